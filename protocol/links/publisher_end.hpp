#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "protocol/links/link_end.hpp"
#include "protocol/links/link_state.hpp"
#include "protocol/publishing/outbox.hpp"

namespace protocol {

/// The end of a link at the node that has dialled and publishes, over one connection: greets,
/// proves itself, and once it is welcome tells what was invalidated, what is stored and what
/// changes. A machine, see LinkEnd. Must not outlive what it is given.
///
/// The order: invalidations ahead of everything, even in the middle of a snapshot, as what peers
/// must not use any longer waits for nothing; then what the Outbox says. The goodbye waits until
/// all invalidations are confirmed.
class PublisherEnd final : public LinkEnd {
public:
    /// What stays from one connection to the next.
    struct Kept {
        std::uint64_t behind_until = 0;  // it must confirm this before its copies count
        bool leaving = false;            // nothing but invalidations and the goodbye is said
        LinkCounters counters;           // without those of the present Outbox
    };
    /// Whom to ask and to tell.
    class Owner {
    public:
        /// The place has answered. Which peer that is, or why there is to be no link.
        virtual Result<std::size_t> met(const std::string& node, const Instance& instance) = 0;
        /// This node itself answers there.
        virtual void met_self() = 0;
        /// The link is up.
        virtual void up_now() = 0;
        /// The peer has confirmed an invalidation.
        virtual void confirmed() = 0;

    protected:
        ~Owner() = default;
    };

    /// `expected`: whom we mean; empty: whoever is there.
    PublisherEnd(LinkState& state, Owner& owner, Kept& kept, const std::string& expected,
                 const Nonce& nonce, TimePoint now);

    void on_hello(const Result<HelloMessage>& message, TimePoint now) override;
    void on_message(const Message& message, TimePoint now) override;
    std::optional<Said> next(TimePoint now) override;
    TimePoint due() const override;
    bool finished() const override { return outbox_ && outbox_->finished(); }
    Limit limit() const override;
    LinkCounters& traffic() override { return kept_.counters; }

    /// It is this peer that is reached here, or nobody known. Not once the link is up.
    void set_peer(std::optional<std::size_t> peer) { peer_ = peer; }
    void offer(const Announcement& announcement);
    void offer(const CheckHash& check);
    void say_goodbye();
    bool up() const { return outbox_.has_value(); }
    /// The peer has answered, and is this run of its.
    bool reaches(const Instance& instance) const { return up() && run_ == instance; }
    LinkCounters counters() const;
    /// The connection has ended: what it has counted is kept. To be called at its end, unless the
    /// whole node ends.
    void leave();
    /// Who answered; empty: nobody yet.
    const std::string& answered() const { return answered_; }

private:
    void greet(const HelloMessage& message);
    void begin(TimePoint now);
    bool awaits_confirmation() const;
    void judge_standing();

    LinkState& state_;
    Owner& owner_;
    Kept& kept_;
    std::optional<PublisherHello> hello_;           // until it is over
    std::optional<PublisherHello::Answer> answer_;  // then too
    enum class Says { hello, nothing, proof } says_ = Says::hello;
    std::string answered_;
    std::optional<std::size_t> peer_;
    Instance run_{};                // of the peer, once the link is up
    std::optional<Outbox> outbox_;  // once the link is up
    TimePoint hello_until_, heard_at_;
};

}  // namespace protocol
