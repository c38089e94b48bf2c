#pragma once

#include <boost/asio/ip/address.hpp>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "base/async/error.hpp"
#include "protocol/links/cluster_status.hpp"
#include "protocol/links/descriptor_allowance.hpp"
#include "protocol/links/link_end.hpp"
#include "protocol/links/peering.hpp"
#include "protocol/links/receipts.hpp"
#include "protocol/links/sync_session.hpp"
#include "protocol/wire/invalidation.hpp"
#include "summary/coding/judge.hpp"

namespace protocol {

class SubscriberEnd;

/// The peers as publishers, over all their connections, and the connections that are still in the
/// hello. It uses neither I/O nor a clock. Must outlive all ends. One thread, also for the ends.
class PeerFeeds {
public:
    using TimePoint = Peering::TimePoint;
    using Address = boost::asio::ip::address;

    /// Decides about the membership.
    class Owner {
    public:
        /// A node that may become a peer has proved that it has a key. Returns its number, or
        /// nullopt when there is too little room.
        virtual std::optional<std::size_t> admit(const std::string& node, const Instance& instance,
                                                 const Address& from) = 0;
        /// Its link is about to be welcomed.
        virtual void heard_of(std::size_t peer, const Instance& instance) = 0;
        /// Its link has ended, and no other has replaced it.
        virtual void left(std::size_t peer) = 0;
        /// Its first summary on this link has arrived.
        virtual void in_sync(std::size_t peer, std::uint64_t objects,
                             const summary::Description& summary) = 0;

    protected:
        ~Owner() = default;
    };
    PeerFeeds(Peering& state, Owner& owner) : state_(state), owner_(owner) {}
    PeerFeeds(const PeerFeeds&) = delete;
    PeerFeeds& operator=(const PeerFeeds&) = delete;

    /// A new peer has this number.
    void add_peer(std::size_t peer, TimePoint now);
    /// The peer is gone, and its link ends. Call it after reading its counters.
    void remove_peer(std::size_t peer);
    /// Forgets the summaries of peers that are away for long. Called at each heartbeat.
    void tidy(TimePoint now);
    /// Takes the peer's applied invalidations, so that they are not applied again, and the
    /// outstanding confirmations.
    void take_over(const PeerFeeds& earlier, std::size_t peer);
    /// From now on received invalidations have no recipient. Closes all links.
    void close();

    /// Adds the counters of this side.
    void add_to(std::size_t peer, TimePoint now, ClusterStatus::Peer& status) const;
    /// The state alone of add_to(): the state of the link from the peer.
    PeerState state(std::size_t peer) const;
    /// Time since when the peer has no link; empty while it has one. TimePoint(): it has never had
    /// one.
    std::optional<TimePoint> silent_since(std::size_t peer) const;
    /// Address of the link from the peer, if there is one.
    std::optional<Address> came_from(std::size_t peer) const;
    /// The last report of the peer, over all its connections; without bytes: there is none.
    struct LastReport {
        Bytes bytes;
        TimePoint at{};
    };
    const LastReport& last_report(std::size_t peer) const { return slots_[peer].report; }

private:
    friend class SubscriberEnd;

    /// State of one peer, over all its connections.
    struct Slot {
        PeerState state = PeerState::connecting;
        SubscriberEnd* end = nullptr;  // the present connection, or null
        Instance instance{};
        std::shared_ptr<Receipts> receipts = std::make_shared<Receipts>();  // of that instance
        /// That the last session left in step, until the next session of the same instance. The
        /// neighbourhood knows it.
        std::unique_ptr<summary::Replica> left_replica;
        DescriptorAllowance descriptors;
        PeerLinkCounters counters;  // without those of the present session
        TimePoint confirmed_at;
        std::optional<TimePoint> linked_at;  // time of its latest link
        TimePoint left_at{};                 // end of its latest link
        LastEnd last_end;
        LastReport report;
    };

    void forget_replica(std::size_t peer);

    Peering& state_;
    Owner& owner_;
    std::deque<Slot> slots_;  // by number; a deque, so that slots stay in place
    std::map<HelloBacklog::Ticket, SubscriberEnd*> hellos_;  // ends in the hello, by ticket
    bool closed_ = false;
    LinkCounters unknown_;  // of connections of unknown peers
};

/// The listening end of a link, which follows the publisher's summary, over one connection. It
/// waits in the hello backlog, verifies the publisher or refuses it with a reason, and then keeps a
/// replica in sync. A state machine, see LinkEnd. It is the feed of the peer's summary for the
/// Neighbourhood.
class SubscriberEnd final : public LinkEnd, private Receipts::Listener {
public:
    SubscriberEnd(PeerFeeds& all, const PeerFeeds::Address& from, const Nonce& nonce,
                  TimePoint now);
    ~SubscriberEnd() override;

    void on_hello(const base::Result<HelloMessage>& message, TimePoint now) override;
    void on_message(const Message& message, TimePoint now) override;
    std::optional<Said> next(TimePoint now) override;
    TimePoint due() const override;
    Limit limit() const override;
    void heard_in_hello(TimePoint now) override { hello_until_.heard(now); }
    LinkCounters& traffic() override { return traffic_ != nullptr ? *traffic_ : all_.unknown_; }

    /// Call it once at the end of the connection, with the reason.
    void over_because(const boost::system::error_code& error, TimePoint now);

    /// The peer, after its proof.
    std::optional<std::size_t> peer() const { return peer_; }
    /// The sender as its hello names it. Unproven before peer() is set; empty before the hello.
    struct Caller {
        std::string name;
        std::string looks_for;  // a node; empty: any
    };
    const Caller& caller() const { return caller_; }
    /// The peer has got the challenge, and has yet to prove itself.
    bool awaits_proof() const { return hello_ && hello_->challenged() && !ended(); }

private:
    friend class PeerFeeds;

    void take_hello(const HelloMessage& message);
    void take_proof(const HelloMessage& message, TimePoint now);
    boost::system::error_code admit(TimePoint now);
    void begin_session(std::size_t peer, const std::shared_ptr<Receipts>& receipts,
                       std::unique_ptr<summary::Replica> left, TimePoint now);
    void take_last_words(const Message& message, TimePoint now);
    void refuse(const boost::system::error_code& error);
    bool leave_backlog();
    void leave(const boost::system::error_code& error);
    void end_feed(const boost::system::error_code& error);
    void apply(const Invalidation& what);
    void more_is_kept() override;
    void load();
    void note_in_sync();

    PeerFeeds& all_;
    Peering& state_;
    PeerFeeds::Address from_;
    std::optional<HelloBacklog::Ticket> ticket_;
    std::optional<SubscriberHello> hello_;  // during the hello
    std::optional<Said> says_;              // message of the hello to send
    Caller caller_;
    std::optional<std::size_t>
        proven_;  // the peer named by a good proof, even if refused afterwards
    std::optional<std::size_t> peer_;
    LinkCounters* traffic_ = nullptr;
    std::optional<SyncSession> session_;  // after the welcome
    std::shared_ptr<Receipts> receipts_;  // after the welcome, for its confirmations
    bool has_last_words_ = false;         // of an instance whose name another instance has taken
    HelloDeadline hello_until_;
    TimePoint heard_at_;
};

}  // namespace protocol
