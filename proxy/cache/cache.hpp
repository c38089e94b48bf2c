#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <mutex>
#include <span>
#include <string>
#include <string_view>

#include "protocol/wire/invalidation.hpp"
#include "protocol/wire/keys.hpp"
#include "proxy/cache/peer_request_plan.hpp"
#include "proxy/config/config.hpp"
#include "proxy/storage/block_flow.hpp"
#include "proxy/storage/memory.hpp"
#include "proxy/storage/store.hpp"
#include "proxy/upstream/upstream.hpp"
#include "summary/key_hash.hpp"

namespace proxy {

/// What the workers of a node have in common of the cache. Any thread.
struct SharedCache {
    /// Called on any thread.
    struct Hooks {
        Store::Listener changed;
        /// This was invalidated here and is to be at all peers.
        std::function<void(protocol::Invalidation)> send_to_peers;
        /// DiskTier::Config::prepare.
        std::function<std::string(const std::filesystem::path&)> prepare_disk = {};
    };

    /// Takes the directories of cache.disk. Throws std::runtime_error with a sentence for the user
    /// when one of them cannot be used.
    SharedCache(const Config& config, const summary::KeyHasher& hasher, Hooks to_node);
    /// When nobody asks any more: writes what waits, and gives the directories back. Before the
    /// executors of those who may wait for the disk are gone.
    void close() { store.close_disk(); }
    /// What of the settings may change at any time: sizes of directories, admission.
    void follow(const Config& config);

    /// No longer counts here; fetches of it that are under way are not stored. How many target URIs
    /// that were. By itself for what concerns this node alone: a peer tells the others itself, and
    /// what an origin says in place of a copy is between the two.
    std::size_t drop(const protocol::Invalidation& what, Store::Clock::time_point now);
    /// The same for all variants of one target URI.
    bool drop(summary::KeyHash hash, Store::Clock::time_point now) {
        return store.invalidate(hash, now);
    }
    /// Nor at any peer. How many target URIs that were here.
    std::size_t invalidate(protocol::Invalidation what, Store::Clock::time_point now);
    /// What was dropped before does not come back, whatever becomes of this process: `kept` is
    /// called once that is so, on any thread; at once without a disk, and not at all if no disk
    /// could note it.
    void when_kept(std::function<void()> kept);
    /// Tells the secret of the keys' hashes apart from others, and does not tell it.
    std::uint64_t secret_mark() const;
    /// What names these target URIs, as CacheKey has them.
    protocol::Invalidation of(std::span<const std::string_view> uris) const;

    /// peer_request_plan.hpp's, with the hits of all workers.
    CopyUse use_of_copy(CopyPolicy policy, const RemoteHit& hit);

    const Hooks hooks;
    const summary::KeyHasher key_hasher;
    const protocol::FieldKey field_key;  // without a cluster of no use
    DiskCalls disk_calls;
    MemoryBudget windows;  // of what is not stored, or read for slow clients (limits.body_windows)
    Store store;
    BlockFlows flows;
    PartResponses part_responses;

private:
    std::mutex remote_hits_access_;
    RemoteHits remote_hits_;
};

/// One worker's cache: what is stored, and the way to those who have what is not. One thread.
struct Cache {
    SharedCache& shared;
    Upstream& upstream;

    /// The one way into what is stored, for clients' requests, peers' questions and blocks: what of
    /// `uri` answers `request`. It does not wait. What has to be waited for is found as a fill:
    /// head and bytes come when they come, and whoever has joined it is woken. What memory lacks
    /// and the disk may have is found as that (Found::on_disk): Store::recall() brings it, then
    /// look again.
    Store::Found look_up(summary::KeyHash hash, std::string_view uri, const Selecting& request,
                         Store::Clock::time_point now) const {
        return shared.store.find(hash, uri, request, now);
    }
    /// Where look_up() would find a response or a fill. No use, and nothing is held: by the time it
    /// is asked for it may be gone.
    Store::Where where(summary::KeyHash hash, std::string_view uri,
                       const Selecting& request) const {
        return shared.store.peek(hash, uri, request);
    }
};

}  // namespace proxy
