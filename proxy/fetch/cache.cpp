#include "proxy/fetch/cache.hpp"

#include <algorithm>
#include <utility>

#include "proxy/disk/super_file.hpp"

namespace proxy {
namespace {

/// One part in so many of the memory may wait to be written to all directories together, as it
/// cannot be evicted meanwhile.
constexpr std::uint64_t kQueuedPart = 4;

}  // namespace

SharedCache::SharedCache(const Config& config, const summary::KeyHasher& hasher,
                         NodeEvents& to_node, const PrepareDisk& prepare_disk)
    : events(to_node),
      key_hasher(hasher),
      field_key(protocol::field_key(config.cluster ? config.cluster->keys.back() : "")),
      windows(config.limits.body_windows),
      store(config.cache.memory, key_hasher, to_node) {
    store.favour(config.cache.favour);
    store.set_max_variants(config.cache.variants);
    const auto& directories = config.cache.disk;
    if (directories.empty()) return;
    Store::DiskUse use;
    for (const auto& [path, size] : directories) use.tier.directories.push_back({path, size});
    use.tier.secret_id = secret_mark_of(key_hasher);
    use.tier.prepare = prepare_disk;
    use.tier.writer.queue_bytes =
        std::min(use.tier.writer.queue_bytes, config.cache.memory / kQueuedPart) /
        directories.size();
    use.admission = config.cache.disk_admission;
    store.use_disk(disk_calls, std::move(use));
}

void SharedCache::follow(const Config& config) {
    store.set_max_variants(config.cache.variants);
    auto* disk = store.disk();
    if (!disk) return;
    store.set_admission(config.cache.disk_admission);
    for (std::size_t i = 0; i < config.cache.disk.size(); ++i)
        disk->set_cap(i, config.cache.disk[i].size);
}

std::size_t SharedCache::invalidate_everywhere(protocol::Invalidation what,
                                               Store::Clock::time_point now) {
    if (what.empty()) return 0;
    const auto ended = store.invalidate(what, now);
    events.push(LocalInvalidation{std::move(what)});
    return ended;
}

protocol::Invalidation SharedCache::of(std::span<const std::string_view> uris) const {
    protocol::Invalidation what;
    for (const auto uri : uris) what.keys.push_back(key_hasher(uri));
    return what;
}

}  // namespace proxy
