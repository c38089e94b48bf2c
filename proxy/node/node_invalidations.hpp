#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <filesystem>
#include <functional>
#include <optional>
#include <set>
#include <string>

#include "protocol/wire/invalidation.hpp"
#include "proxy/admin/purge.hpp"
#include "proxy/config/config.hpp"
#include "proxy/fetch/cache.hpp"
#include "proxy/node/node_cluster.hpp"
#include "proxy/storage/invalidation_journals.hpp"
#include "proxy/storage/node_events.hpp"

namespace proxy {

/// Carries invalidations of this node to its peers and to the journals on disk, and applies those
/// of peers to the store. Control thread.
class NodeInvalidations {
public:
    /// All arguments outlive this object.
    NodeInvalidations(boost::asio::io_context& control, std::string node, NodeCluster& cluster,
                      SharedCache& cache);

    /// Opens the journals of a node with a cluster and a disk, and hands the invalidations that
    /// peers have yet to confirm to the cluster. Call it before the cluster starts.
    void open_journals(const Config& config);
    /// Logs new faults of journals, and drops confirmed invalidations from them. Call it
    /// periodically.
    void maintain_journals();
    /// Call it when all threads have ended and the disk is closed.
    void close();

    /// Sends an invalidation to all peers. This node has applied it already.
    void tell_peers(const protocol::Invalidation& what);
    /// Applies an invalidation of a peer, which sends it to the other peers itself. Calls `done` on
    /// the control thread once a restart of this node cannot revive the dropped responses.
    void apply(const protocol::Invalidation& what, std::function<void()> done);

    /// Invalidates the named responses here and at all peers. Waits up to kPurgeDeadline for the
    /// peers' confirmations.
    boost::asio::awaitable<PurgeAnswer> purge(PurgeOrder order);
    /// The same for a client's PURGE. Returns at once.
    void purge(PurgeRequested request);

private:
    void when_kept(std::function<void(bool kept)> done);

    boost::asio::io_context& control_;
    const std::string node_;
    NodeCluster& cluster_;
    SharedCache& cache_;
    std::optional<InvalidationJournals> journals_;     // with a cluster and a disk
    std::set<std::filesystem::path> faulty_journals_;  // that the log has named
};

}  // namespace proxy
