#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "protocol/cluster_status.hpp"
#include "protocol/link.hpp"
#include "protocol/listener.hpp"
#include "protocol/shape_allowance.hpp"
#include "protocol/shared.hpp"
#include "protocol/sync_session.hpp"
#include "protocol/task_group.hpp"

namespace protocol {

/// The links that peers make to us. Must outlive listen() and all it spawns.
class SubscriberLinks {
public:
    struct Hooks {
        /// A node that may become a peer has proved that it holds a key. Its number, or nothing if
        /// there is no room for it.
        std::function<std::optional<std::size_t>(const std::string& node, const Instance& instance,
                                                 const boost::asio::ip::address& from)>
            admit;
        /// Its link is to be welcomed.
        std::function<void(std::size_t peer, const Instance& instance)> heard_of;
        /// It has no link to us any more.
        std::function<void(std::size_t peer)> left;
    };
    SubscriberLinks(Shared& shared, Hooks hooks);

    /// There is another peer of this number, called so.
    void add_peer(std::size_t peer, const std::string& node);
    /// There is none any more; its link ends. To be called when its numbers have been read.
    void remove_peer(std::size_t peer);

    /// Throws boost::system::system_error with the address in what().
    void bind();
    std::uint16_t port() const;

    /// Takes connections until close(); each runs in `tasks`, which keeps `owner` alive.
    awaitable<void> listen(TaskGroup& tasks, std::shared_ptr<void> owner);
    void close();
    /// Instead of bind(): listens on with the socket of `earlier`, which listens no more.
    void bind_in_place_of(SubscriberLinks& earlier);

    /// What this peer has had applied already, so that it is not applied again.
    void take_over(const SubscriberLinks& earlier, std::size_t peer);

    /// Adds our side's numbers.
    void report(std::size_t peer, ClusterStatus::Peer& status) const;
    std::uint64_t announcement_bytes(std::size_t peer) const;

private:
    class End;

    /// What we know of one peer as a publisher, over all its connections.
    struct Slot {
        std::string name;  // "link from b", for logs
        PeerState state = PeerState::connecting;
        // The present connection, if there is one.
        Link* link = nullptr;
        SyncSession* session = nullptr;
        Instance instance{};
        Traffic traffic;
        std::uint64_t applied = 0;  // the last invalidation of that run
        ShapeAllowance shapes;
        SyncSession::Counters earlier;  // of connections that have ended
        Clock::time_point confirmed_at;
        std::string last_error;
    };
    struct Greeted {
        std::string node;
        std::size_t peer = 0;
        LinkSecrets secrets;
        Instance instance{};
    };

    awaitable<void> serve(std::shared_ptr<void> owner, boost::asio::ip::tcp::socket socket);
    Doorstep::Ticket take_place(Link& link);
    /// False when it had to give way.
    bool give_up_place(Doorstep::Ticket ticket);
    awaitable<Result<Greeted>> greet(Link& link, std::optional<std::size_t>& claimed);
    awaitable<void> refuse(Link& link, boost::system::error_code error);
    awaitable<boost::system::error_code> subscribe(Link& link, const Greeted& greeted);
    boost::system::error_code admit(Greeted& greeted, const boost::asio::ip::address& from);
    void leave(Slot& slot, std::size_t peer, const boost::system::error_code& error);
    void note_refusal(const Link& link, std::optional<std::size_t> claimed,
                      const boost::system::error_code& error);

    Shared& shared_;
    Hooks hooks_;
    Listener listener_;
    std::deque<Slot> slots_;                    // by number; they stay where they are
    std::map<Doorstep::Ticket, Link*> hellos_;  // under way, each with its place on the doorstep
    bool closed_ = false;
    Traffic unknown_;  // of connections whose peer is not known
};

}  // namespace protocol
