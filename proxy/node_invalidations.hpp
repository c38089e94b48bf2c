#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "protocol/cluster.hpp"
#include "protocol/wire/invalidation.hpp"
#include "proxy/cache/cache.hpp"
#include "proxy/config/config.hpp"
#include "proxy/control_feed.hpp"
#include "proxy/storage/invalidation_journals.hpp"
#include "proxy/storage/purge.hpp"

namespace proxy {

/// What a node has invalidated, on its way to the peers and to the disk, and what peers have, on
/// its way here. Control thread, but for what says otherwise.
class NodeInvalidations {
public:
    /// `cluster`: which one it is may change.
    NodeInvalidations(boost::asio::io_context& control, std::string node,
                      const std::unique_ptr<protocol::Cluster>& cluster, SharedCache& cache);

    /// Before the cluster starts: what was invalidated and not confirmed outlives this process,
    /// where there is a disk.
    void keep(const Config& config);
    /// To be called now and then.
    void tend();
    /// When all threads have ended, and the disk.
    void close();

    /// What this node has invalidated. Any thread; on the control thread they are told at once.
    void tell_peers(protocol::Invalidation what);
    /// What a peer has invalidated; not passed on, as it tells everybody itself. `done` is called
    /// once it cannot come back.
    void take(const protocol::Invalidation& what, std::function<void()> done);

    /// Drops it here, then has all peers drop it.
    boost::asio::awaitable<PurgeReport> purge(PurgeOrder order);
    /// The same for a worker. Any thread; `done` is called on the control thread.
    void purge(PurgeOrder order, std::function<void(PurgeReport)> done);

private:
    void tell_peers_now(const protocol::Invalidation& what);
    void when_kept(std::function<void(bool kept)> done);

    boost::asio::io_context& control_;
    const std::string node_;
    const std::unique_ptr<protocol::Cluster>& cluster_;
    SharedCache& cache_;
    ControlFeed<protocol::Invalidation> invalidated_;  // on other threads
    std::optional<InvalidationJournals> journals_;     // with a cluster and a disk
    std::set<std::filesystem::path> in_trouble_;       // whose journal was told to be incomplete
};

}  // namespace proxy
