#include "proxy/cache/cache.hpp"

#include <utility>

namespace proxy {

SharedCache::SharedCache(const Config& config, const summary::KeyHasher& hasher, Hooks to_node)
    : hooks(std::move(to_node)),
      key_hasher(hasher),
      field_key(protocol::field_key(config.cluster ? config.cluster->keys.back() : "")),
      windows(config.limits.body_windows),
      store(config.cache.memory, hooks.changed) {}

std::size_t SharedCache::drop(const protocol::Invalidation& what) {
    const auto now = Store::Clock::now();
    std::size_t dropped = 0;
    if (what.all) {
        dropped = store.stats().objects;
        store.invalidate_all(now);
    }
    for (const auto& key : what.keys) dropped += store.invalidate(key, now);
    for (const auto& tag : what.tags) dropped += store.invalidate_tag(tag, now);
    return dropped;
}

void SharedCache::invalidate(protocol::Invalidation what) {
    if (what.empty()) return;
    drop(what);
    hooks.tell_peers(std::move(what));
}

bool SharedCache::stores_copy(CopyPolicy policy, summary::KeyHash key, bool renews) {
    const std::lock_guard lock(remote_hits_access_);
    return proxy::stores_copy(policy, key, renews, remote_hits_);
}

protocol::Invalidation SharedCache::of(std::span<const std::string_view> uris) const {
    protocol::Invalidation what;
    for (const auto uri : uris) what.keys.push_back(key_hasher(uri));
    return what;
}

}  // namespace proxy
