#pragma once

#include <boost/asio/ip/address.hpp>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "protocol/links/cluster_status.hpp"
#include "protocol/links/link_end.hpp"
#include "protocol/links/link_state.hpp"
#include "protocol/links/receipts.hpp"
#include "protocol/links/sync_session.hpp"
#include "protocol/net/descriptor_allowance.hpp"
#include "protocol/wire/invalidation.hpp"
#include "summary/judge.hpp"

namespace protocol {

class SubscriberEnd;

/// What we know of the peers as publishers, over all their connections, and of those connections
/// that have not said yet whose they are. No I/O, no clock. Must outlive all ends.
class Subscriptions {
public:
    using TimePoint = LinkState::TimePoint;
    using Address = boost::asio::ip::address;

    /// Decisions and notices that concern the membership.
    struct PeerHooks {
        /// A node that may become a peer has proved that it holds a key. Its number, or nothing if
        /// there is no room for it.
        std::function<std::optional<std::size_t>(const std::string& node, const Instance& instance,
                                                 const Address& from)>
            admit;
        /// Its link is to be welcomed.
        std::function<void(std::size_t peer, const Instance& instance)> heard_of;
        /// It has no link to us any more.
        std::function<void(std::size_t peer)> left;
    };
    struct Hooks : PeerHooks {
        /// Its first summary over this link is there.
        std::function<void(std::size_t peer, std::uint64_t objects,
                           const summary::Description& summary)>
            in_sync;
        /// It has invalidated this; `done` as in ClusterHooks.
        std::function<void(const Invalidation&, std::function<void()> done)> invalidated;
    };
    Subscriptions(LinkState& state, Hooks hooks) : state_(state), hooks_(std::move(hooks)) {}
    Subscriptions(const Subscriptions&) = delete;
    Subscriptions& operator=(const Subscriptions&) = delete;

    /// There is another peer of this number.
    void add_peer(std::size_t peer, TimePoint now);
    /// There is none any more; its link ends. To be called when its numbers have been read.
    void remove_peer(std::size_t peer);
    /// What this peer has had applied already, so that it is not applied again, and what of that
    /// is still to be kept.
    void take_over(const Subscriptions& earlier, std::size_t peer);
    /// Nobody is there any more to apply what peers say.
    void close() { closed_ = true; }

    /// Adds our side's numbers.
    void report(std::size_t peer, TimePoint now, ClusterStatus::Peer& status) const;
    /// Of report() the state alone: what the link from it is worth.
    PeerState state(std::size_t peer) const;
    /// Since when there is no link from it; nothing: there is one. TimePoint(): there was none yet.
    std::optional<TimePoint> silent_since(std::size_t peer) const;
    /// Where the link from it comes from, if there is one.
    std::optional<Address> came_from(std::size_t peer) const;

private:
    friend class SubscriberEnd;

    /// What we know of one peer, over all its connections.
    struct Slot {
        PeerState state = PeerState::connecting;
        SubscriberEnd* end = nullptr;  // the present connection, if there is one
        Instance instance{};
        std::shared_ptr<Receipts> receipts = std::make_shared<Receipts>();  // of that run
        DescriptorAllowance descriptors;
        PeerLinkCounters counters;  // without those of the present session
        TimePoint confirmed_at;
        std::optional<TimePoint> linked_at;  // a link from it was made last
        TimePoint left_at{};                 // the last one ended
        LastEnd last_end;
    };

    LinkState& state_;
    Hooks hooks_;
    std::deque<Slot> slots_;                             // by number; they stay where they are
    std::map<Doorstep::Ticket, SubscriberEnd*> hellos_;  // under way, each with its place
    bool closed_ = false;
    LinkCounters unknown_;  // of connections whose peer is not known
};

/// The end of a link at the node that was dialled and follows the other's summary, over one
/// connection: stands on the doorstep, lets the publisher prove itself or tells it why it is
/// refused, then keeps a replica in sync. A machine, see LinkEnd.
class SubscriberEnd final : public LinkEnd, private Receipts::Listener {
public:
    SubscriberEnd(Subscriptions& all, const Subscriptions::Address& from, const Nonce& nonce,
                  TimePoint now);
    ~SubscriberEnd() override;

    void on_hello(const Result<HelloMessage>& message, TimePoint now) override;
    void on_message(const Message& message, TimePoint now) override;
    std::optional<Said> next(TimePoint now) override;
    TimePoint due() const override;
    Limit limit() const override;
    LinkCounters& traffic() override { return traffic_ != nullptr ? *traffic_ : all_.unknown_; }

    /// The connection has ended, for this reason. To be called once, at its end.
    void over_because(const boost::system::error_code& error, TimePoint now);

    /// Whose link it is, once that has proved itself.
    std::optional<std::size_t> peer() const { return peer_; }
    /// Whose it is; before that is proved, who it says it is. Empty: it has not said.
    const std::string& who() const { return who_; }
    /// Whom it looks for, as it says; empty: whoever is there, or it has not said.
    const std::string& looks_for() const { return looks_for_; }

private:
    friend class Subscriptions;

    void take_hello(const HelloMessage& message);
    void take_proof(const HelloMessage& message, TimePoint now);
    boost::system::error_code admit(TimePoint now);
    void begin_session(std::size_t peer, const std::shared_ptr<Receipts>& receipts, TimePoint now);
    void take_last_words(const Message& message, TimePoint now);
    void refuse(const boost::system::error_code& error);
    bool leave_doorstep();
    void leave(const boost::system::error_code& error);
    void apply(const SyncSession::Drop& drop);
    void more_is_kept() override;
    void load();

    Subscriptions& all_;
    LinkState& state_;
    Subscriptions::Address from_;
    std::optional<Doorstep::Ticket> ticket_;
    std::optional<SubscriberHello> hello_;  // until it is over
    std::optional<Said> says_;              // of the hello
    bool challenged_ = false;
    std::optional<std::size_t> proven_;  // whom the proof named, be it refused after that
    std::optional<std::size_t> peer_;
    std::string who_, looks_for_;
    LinkCounters* traffic_ = nullptr;
    std::optional<SyncSession> session_;  // once it is welcome
    std::shared_ptr<Receipts> receipts_;  // what it confirms goes by; then, too
    bool has_last_words_ = false;         // of a run whose name another has by now
    TimePoint hello_until_, heard_at_;
};

}  // namespace protocol
