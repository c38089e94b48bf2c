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

/// The links that peers make to us: takes their connections, lets SubscriberEnd speak, and logs
/// what became of them. Must outlive listen() and all it spawns.
class SubscriberLinks {
public:
    SubscriberLinks(LinkContext& context, Subscriptions::PeerHooks hooks);

    /// There is another peer of this number.
    void add_peer(std::size_t peer) { peers_.add_peer(peer, Clock::now()); }
    /// There is none any more; its link ends. To be called when its numbers have been read.
    void remove_peer(std::size_t peer) { peers_.remove_peer(peer); }

    /// Throws boost::system::system_error with the address in what().
    void bind();
    std::uint16_t port() const;

    /// Takes connections until close(); each runs in `tasks`, which keeps `owner` alive.
    awaitable<void> listen(TaskGroup& tasks, std::shared_ptr<void> owner);
    void close();
    /// Instead of bind(): listens on with the socket of `earlier`, which listens no more.
    void bind_in_place_of(SubscriberLinks& earlier);

    /// What this peer has had applied already, so that it is not applied again.
    void take_over(const SubscriberLinks& earlier, std::size_t peer) {
        peers_.take_over(earlier.peers_, peer);
    }

    /// Adds our side's numbers.
    void report(std::size_t peer, ClusterStatus::Peer& status) const {
        peers_.report(peer, Clock::now(), status);
    }
    // As Subscriptions.
    PeerState state(std::size_t peer) const { return peers_.state(peer); }
    std::optional<Clock::time_point> silent_since(std::size_t peer) const {
        return peers_.silent_since(peer);
    }
    std::optional<boost::asio::ip::address> came_from(std::size_t peer) const {
        return peers_.came_from(peer);
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
