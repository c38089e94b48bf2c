#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <mutex>
#include <span>
#include <string>
#include <string_view>

#include "base/memory/memory.hpp"
#include "protocol/wire/invalidation.hpp"
#include "protocol/wire/keys.hpp"
#include "proxy/config/config.hpp"
#include "proxy/fetch/awaited_orders.hpp"
#include "proxy/fetch/known_fetchers.hpp"
#include "proxy/fetch/known_renewals.hpp"
#include "proxy/fetch/peer_request_plan.hpp"
#include "proxy/fetch/varying_fields.hpp"
#include "proxy/storage/block_flow.hpp"
#include "proxy/storage/first_sights.hpp"
#include "proxy/storage/node_events.hpp"
#include "proxy/storage/recent_verdicts.hpp"
#include "proxy/storage/store.hpp"
#include "proxy/storage/suffix_requests.hpp"
#include "proxy/upstream/upstream.hpp"
#include "summary/sizing/key_hash.hpp"

namespace proxy {

/// The decisions of all workers about copies, by cluster.copy. Any thread.
class CopyDecisions {
public:
    /// As in peer_request_plan.hpp.
    CopyUse use_of(CopyPolicy policy, const RemoteHit& hit) {
        const std::lock_guard lock(access_);
        return use_of_copy(policy, hit, lately_);
    }

private:
    std::mutex access_;
    RemoteHits lately_;
};

/// The experience of all workers in the cooperation with peers. Any thread.
struct SharedCooperation {
    KnownFetchers fetchers;
    KnownRenewals renewals;
    CopyDecisions copies;
    VaryingFields varying_fields;
    AwaitedOrders awaited_orders;  // the control thread begins and ends it
    /// StoringRequest::clock_ahead in seconds; the control thread keeps it.
    std::atomic<std::int64_t> clock_ahead{0};
};

/// The part of the cache that all workers of a node share. Any thread.
struct SharedCache {
    /// DiskTier::Config::prepare.
    using PrepareDisk = std::function<std::string(const std::filesystem::path&)>;

    /// Takes the directories of cache.disk. Throws std::runtime_error, with a sentence for the
    /// user, if one of them is unusable.
    SharedCache(const Config& config, const summary::KeyHasher& hasher, NodeEvents& to_node,
                const PrepareDisk& prepare_disk = {});
    /// Writes the queued records and releases the directories. To be called after the last request,
    /// and before the executors of disk waits are gone.
    void close() { store.close_disk(); }
    /// Applies the settings that may change at any time: sizes of directories, admission.
    void follow(const Config& config);

    /// Store::invalidate() of this node and, by an event, of all peers. Returns the number of
    /// target URIs of this node. An affair of this node alone goes to the store: a peer sends its
    /// invalidations to the others itself, and a copy that the origin contradicts concerns no third
    /// node.
    std::size_t invalidate_everywhere(protocol::Invalidation what, Store::Clock::time_point now);
    /// The invalidation of these target URIs, as CacheKey has them.
    protocol::Invalidation of(std::span<const std::string_view> uris) const;

    NodeEvents& events;
    const summary::KeyHasher key_hasher;
    const protocol::FieldKey field_key;  // useless without a cluster
    DiskCalls disk_calls;
    base::MemoryBudget
        windows;  // for unstored bodies, and those read for slow clients (limits.body_windows)
    Store store;
    BlockFlows flows;
    FirstSights first_sights{key_hasher};  // of content under `min_age` of a rule
    SharedUpstream upstream;
    RecentVerdicts recent_verdicts;  // for explanations
    SuffixRequests suffix_requests;
    SharedCooperation cooperation;
};

/// One worker's cache: the store, and the way to peers and origins. One thread.
struct Cache {
    SharedCache& shared;
    Upstream& upstream;
};

}  // namespace proxy
