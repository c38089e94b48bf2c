#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/async/error.hpp"
#include "protocol/links/link_end.hpp"
#include "protocol/links/peering.hpp"
#include "protocol/publishing/outbox.hpp"
#include "summary/directory/peer_set.hpp"

namespace protocol {

/// The dialling and publishing end of a link, over one connection. It greets, proves itself, and
/// after the welcome sends invalidations, the snapshot and announcements. A state machine, see
/// LinkEnd. Its arguments must outlive it. One thread.
///
/// The Outbox waits for the first heartbeat of the subscriber, which says what it holds: a
/// subscriber that an earlier link left in step gets the deltas that it missed, if the publisher
/// still has them, and any other gets a snapshot.
///
/// Invalidations go first, even in the middle of a snapshot, since peers must stop using the
/// content at once; then the messages of the Outbox follow. The goodbye waits until all
/// invalidations are confirmed. Renewals come behind invalidations, which end those that still
/// wait. A new report of the node follows a heartbeat, so that it costs no
/// wait and no write of its own.
class PublisherEnd final : public LinkEnd {
public:
    /// State kept from one connection to the next.
    struct SessionState {
        std::optional<std::size_t> peer;  // at this place; empty: unknown. Fixed while it is up
        std::uint64_t behind_until = 0;   // it must confirm this before its copies count
        bool leaving = false;             // sends only invalidations and the goodbye
        LinkCounters counters;            // without those of the present Outbox
    };
    /// Receives questions and notices of the end.
    class Owner {
    public:
        /// A node has answered at the place. Returns its peer number, which SessionState gets, or
        /// an error if the link is unwanted.
        virtual base::Result<std::size_t> met(const std::string& node,
                                              const Instance& instance) = 0;
        /// This node itself has answered there.
        virtual void met_self() = 0;
        /// The link is up.
        virtual void up_now() = 0;
        /// The peer has confirmed an invalidation.
        virtual void confirmed() = 0;

    protected:
        ~Owner() = default;
    };

    /// `expected`: the expected node; empty: any.
    PublisherEnd(Peering& state, Owner& owner, SessionState& kept, const std::string& expected,
                 const Nonce& nonce, TimePoint now);
    ~PublisherEnd() override;

    void on_hello(const base::Result<HelloMessage>& message, TimePoint now) override;
    void on_message(const Message& message, TimePoint now) override;
    std::optional<Said> next(TimePoint now) override;
    TimePoint due() const override;
    bool finished() const override { return outbox_ && outbox_->finished(); }
    Limit limit() const override;
    void heard_in_hello(TimePoint now) override { hello_until_.heard(now); }
    LinkCounters& traffic() override { return kept_.counters; }

    // Preconditions: the link is up.
    void offer(const Announcement& announcement);
    /// The check-hash goes out in one write with the next heartbeat or announcement.
    void take_along(const CheckHash& check) { outbox_->offer(check); }
    /// Tells the peer of a renewal that was at `at`, if it is one of `peers`, takes renewals, and
    /// the link has room.
    void tell(const Renewal& renewal, TimePoint at, const summary::PeerSet& peers);
    void say_goodbye();
    bool up() const { return outbox_.has_value(); }
    /// Time when the link came up. Precondition: up().
    TimePoint up_since() const { return up_since_; }
    /// The place has taken the connection, and has sent nothing.
    bool met_silence() const { return hello_until_.is_silent(); }
    /// Whether the link is up to this instance of the peer.
    bool reaches(const Instance& instance) const { return up() && instance_ == instance; }
    LinkCounters counters() const;
    /// Keeps the counters at the end of the connection. Skipped at the end of the whole node.
    void leave();

private:
    void greet(const HelloMessage& message);
    void begin(TimePoint now);
    bool awaits_confirmation() const;
    bool awaits_holding() const { return !knows_holding_ && !kept_.leaving; }
    void take_holding(const Heartbeat& beat);
    bool takes(std::uint8_t feature) const { return (features_ & feature) != 0; }
    void judge_standing();
    void take(const Heartbeat& beat);
    std::optional<Message> next_renewals(TimePoint now);
    bool has_report() const;
    std::optional<Message> next_report(TimePoint now);

    Peering& state_;
    Owner& owner_;
    SessionState& kept_;
    std::optional<PublisherHello> hello_;           // during the hello
    std::optional<PublisherHello::Answer> answer_;  // during the hello
    enum class Says { hello, nothing, proof } says_ = Says::hello;
    Instance instance_{};           // of the peer, while the link is up
    std::optional<Outbox> outbox_;  // while the link is up
    bool knows_holding_ = false;    // the peer has said what it holds of the summary
    std::uint8_t features_ = 0;     // of the peer, on this connection
    struct WaitingRenewal {
        Renewal what;
        TimePoint at;
    };
    std::vector<WaitingRenewal> renewals_;  // at most kMaxRenewalsAtOnce
    bool report_follows_ = false;           // the report is the next message after invalidations
    Peering::OwnReport reported_;           // the last one sent; keeps its bytes alive
    HelloDeadline hello_until_;
    TimePoint heard_at_;
    TimePoint up_since_{};
};

}  // namespace protocol
