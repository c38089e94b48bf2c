#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "protocol/cluster_status.hpp"
#include "protocol/link.hpp"
#include "protocol/shape_allowance.hpp"
#include "protocol/shared.hpp"
#include "protocol/sync_session.hpp"
#include "protocol/task_group.hpp"

namespace protocol {

/// The links that peers make to us. Must outlive listen() and all it spawns.
class SubscriberLinks {
public:
    using HeardOf = std::function<void(std::size_t peer, const Instance& instance)>;

    /// `heard_of`: a peer has proved itself; called before its link is welcomed.
    SubscriberLinks(Shared& shared, HeardOf heard_of);

    /// Throws boost::system::system_error with the address in what().
    void bind();
    std::uint16_t port() const;

    /// Takes connections until close(); each runs in `tasks`, which keeps `owner` alive.
    awaitable<void> listen(TaskGroup& tasks, std::shared_ptr<void> owner);
    void close();
    /// Instead of bind(): listens on with the socket of `earlier`, which listens no more.
    void bind_in_place_of(SubscriberLinks& earlier);

    /// What each peer has had applied already, so that it is not applied again. `was`: for each
    /// peer its index in `earlier`.
    void take_over(const SubscriberLinks& earlier, std::span<const std::optional<std::size_t>> was);

    /// Adds our side's numbers.
    void report(std::size_t peer, ClusterStatus::Peer& status) const;
    std::uint64_t announcement_bytes() const;

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
        std::uint64_t objects = 0;
        std::string last_error;
    };
    struct Greeted {
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
    boost::system::error_code admit(const Greeted& greeted);
    void leave(Slot& slot, std::size_t peer, const boost::system::error_code& error);
    void note_refusal(const Link& link, std::optional<std::size_t> claimed,
                      const boost::system::error_code& error);

    Shared& shared_;
    HeardOf heard_of_;
    boost::asio::ip::tcp::acceptor acceptor_;
    std::vector<Slot> slots_;
    std::map<Doorstep::Ticket, Link*> hellos_;  // under way, each with its place on the doorstep
    bool closed_ = false;
    Traffic unknown_;  // of connections whose peer is not known
};

}  // namespace protocol
