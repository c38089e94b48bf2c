#pragma once

#include <boost/asio/io_context.hpp>
#include <cstdint>
#include <functional>
#include <memory>

#include "protocol/cluster_config.hpp"
#include "protocol/cluster_status.hpp"
#include "protocol/peer_view.hpp"
#include "summary/key_hash.hpp"

namespace protocol {

/// This node's part in the cluster: tells each peer what we store, and keeps a replica of what each
/// peer stores. Publishes by dialling every peer and hears from peers that dial us, one direction
/// per connection. Works with no peers at all; then it only keeps the own summary.
///
/// Everything here runs on the control thread, the one that runs `control`. Trouble with a peer
/// costs that peer its link and is logged; nothing throws after start().
class Cluster {
public:
    using OnView = std::function<void(std::shared_ptr<const PeerView>)>;

    /// Throws std::invalid_argument when the configuration cannot work (key too short, two peers of
    /// one name, peers but no key). `on_view` is called on the control thread: once in start(),
    /// then at each change. It must not call stop() or destroy the cluster.
    Cluster(boost::asio::io_context& control, ClusterConfig config, OnView on_view);
    ~Cluster();  // as stop()
    Cluster(const Cluster&) = delete;
    Cluster& operator=(const Cluster&) = delete;

    /// Binds the link port and begins to dial. Throws boost::system::system_error that names the
    /// address when that fails.
    void start();

    /// Port of the link listener (for tests, which bind port 0); 0 when there is none.
    std::uint16_t link_port() const;

    /// Hashes keys as all nodes of this cluster do. May be copied to any thread.
    summary::KeyHasher key_hasher() const;

    /// Each key exactly once when it becomes, or ceases to be, part of the summary.
    void stored(summary::KeyHash key);
    void removed(summary::KeyHash key);

    /// Goodbye to all peers: our summary no longer counts. Peers' summaries are still kept.
    void withdraw();

    /// Closes everything; `control` can then run out of work. May be called twice.
    void stop();

    ClusterStatus status() const;

private:
    class Node;
    std::shared_ptr<Node> node_;
};

}  // namespace protocol
