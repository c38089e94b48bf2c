#include "proxy/cache/cache.hpp"

#include <utility>

namespace proxy {

SharedCache::SharedCache(const Config& config, const summary::KeyHasher& hasher, Hooks to_node)
    : hooks(std::move(to_node)),
      key_hasher(hasher),
      field_key(protocol::field_key(config.cluster ? config.cluster->keys.back() : "")),
      windows(config.limits.body_windows),
      store(config.cache.memory, hooks.changed) {}

std::size_t SharedCache::drop(const protocol::Invalidation& what, Store::Clock::time_point now) {
    std::size_t dropped = 0;
    if (what.all) {
        dropped = store.stats().objects;
        store.invalidate_all(now);
    }
    for (const auto& key : what.keys) dropped += drop(key, now);
    for (const auto& tag : what.tags) dropped += store.invalidate_tag(tag, now);
    return dropped;
}

std::size_t SharedCache::invalidate(protocol::Invalidation what, Store::Clock::time_point now) {
    if (what.empty()) return 0;
    const auto dropped = drop(what, now);
    hooks.tell_peers(std::move(what));
    return dropped;
}

CopyUse SharedCache::use_of_copy(CopyPolicy policy, const RemoteHit& hit) {
    const std::lock_guard lock(remote_hits_access_);
    return proxy::use_of_copy(policy, hit, remote_hits_);
}

protocol::Invalidation SharedCache::of(std::span<const std::string_view> uris) const {
    protocol::Invalidation what;
    for (const auto uri : uris) what.keys.push_back(key_hasher(uri));
    return what;
}

}  // namespace proxy
