#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "protocol/links/cluster_status.hpp"
#include "protocol/links/link.hpp"
#include "protocol/links/link_context.hpp"
#include "protocol/links/subscriber_end.hpp"
#include "protocol/net/listener.hpp"
#include "protocol/net/task_group.hpp"

namespace protocol {

/// The links that peers make to this node. It accepts their connections, lets a SubscriberEnd run
/// for each, and logs how they end. Must outlive listen() and the tasks that listen() spawns.
/// One thread, that of the context's executor.
class SubscriberLinks {
public:
    SubscriberLinks(LinkContext& context, Subscriptions::PeerHooks hooks);

    /// A new peer has this number.
    void add_peer(std::size_t peer) { peers_.add_peer(peer, Clock::now()); }
    /// The peer is gone, and its link ends. Call it after reading its counters.
    void remove_peer(std::size_t peer) { peers_.remove_peer(peer); }

    /// Throws boost::system::system_error with the address in what().
    void bind();
    std::uint16_t port() const;

    /// Accepts connections until close(). Each runs in `tasks` and keeps `owner` alive.
    awaitable<void> listen(TaskGroup& tasks, std::shared_ptr<void> owner);
    void close();
    /// Takes over the listening socket of `earlier`, which stops listening. Instead of bind().
    void bind_in_place_of(SubscriberLinks& earlier);

    /// Takes the peer's applied invalidations, so that they are not applied again.
    void take_over(const SubscriberLinks& earlier, std::size_t peer) {
        peers_.take_over(earlier.peers_, peer);
    }

    /// Adds the counters of this side.
    void report(std::size_t peer, ClusterStatus::Peer& status) const {
        peers_.report(peer, Clock::now(), status);
    }
    // See Subscriptions.
    PeerState state(std::size_t peer) const { return peers_.state(peer); }
    std::optional<Clock::time_point> silent_since(std::size_t peer) const {
        return peers_.silent_since(peer);
    }
    std::optional<boost::asio::ip::address> came_from(std::size_t peer) const {
        return peers_.came_from(peer);
    }
    const Subscriptions::LastReport& last_report(std::size_t peer) const {
        return peers_.last_report(peer);
    }

private:
    awaitable<void> serve(std::shared_ptr<void> owner, boost::asio::ip::tcp::socket socket);
    void note_end(const SubscriberEnd& end, const std::string& remote,
                  const boost::system::error_code& error);

    LinkContext& context_;
    Subscriptions peers_;
    Listener listener_;
};

}  // namespace protocol
