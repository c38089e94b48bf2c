#include "protocol/links/publisher_end.hpp"

#include <algorithm>
#include <utility>

#include "protocol/links/dial_report.hpp"
#include "protocol/wire/codec.hpp"

namespace protocol {

PublisherEnd::PublisherEnd(Peering& state, Owner& owner, SessionState& kept,
                           const std::string& expected, const Nonce& nonce, TimePoint now)
    : state_(state),
      owner_(owner),
      kept_(kept),
      hello_(std::in_place, state.self, state.keys, expected, nonce,
             state.publisher.own().descriptor()),
      hello_until_(state.config.timings.hello, now),
      heard_at_(now) {}

PublisherEnd::~PublisherEnd() {
    if (outbox_) std::erase(state_.subscribers, this);
}

void PublisherEnd::leave() {
    if (!outbox_) return;
    std::erase(state_.subscribers, this);
    state_.neighbours.set_renews(*kept_.peer, false);
    auto& pulse = state_.pulse(*kept_.peer);
    pulse.listens_elsewhere = false;
    pulse.it_cannot_dial = 0;
    pulse.wake_subscriber();
    add(kept_.counters, outbox_->counters(), kLinkCounters);
    outbox_.reset();
}

LinkCounters PublisherEnd::counters() const {
    auto sum = kept_.counters;
    if (outbox_) add(sum, outbox_->counters(), kLinkCounters);
    return sum;
}

void PublisherEnd::on_hello(const base::Result<HelloMessage>& message, TimePoint) {
    if (ended()) return;
    if (!message) return end(message.error());
    if (!answer_) return greet(*message);
    const auto* refusal = std::get_if<Refusal>(&*message);
    end(make_error_code(refusal != nullptr ? refusal->reason : Error::unexpected_frame));
}

void PublisherEnd::greet(const HelloMessage& message) {
    auto answer = hello_->on_message(message);
    if (!answer) {
        if (answer.error() == Error::own_id) owner_.met_self();
        return end(answer.error());
    }
    const auto peer = owner_.met(answer->node, answer->instance);
    if (ended()) return;  // the place was dropped
    if (!peer) return end(peer.error());
    kept_.peer = *peer;
    secure(answer->secrets.from_publisher, answer->secrets.from_subscriber);
    answer_ = std::move(*answer);
    says_ = Says::proof;
}

void PublisherEnd::on_message(const Message& message, TimePoint now) {
    if (ended()) return;
    if (!greeted()) {
        if (!std::holds_alternative<Welcome>(message))
            return end(make_error_code(Error::unexpected_frame));
        return begin(now);
    }
    heard_at_ = now;
    if (const auto* confirm = std::get_if<Confirm>(&message)) {
        if (!state_.invalidations.confirm(*kept_.peer, confirm->last))
            return end(make_error_code(Error::unexpected_frame));
        judge_standing();
        owner_.confirmed();
        wake();  // the goodbye may have waited for it
    } else if (std::holds_alternative<SnapshotRequest>(message)) {
        knows_holding_ = true;
        outbox_->want_snapshot();
        wake();
    } else if (const auto* beat = std::get_if<Heartbeat>(&message)) {
        take(*beat);
    } else {
        end(make_error_code(Error::unexpected_frame));
    }
}

/// A false statement harms only the peer: it follows its own replica.
void PublisherEnd::take_holding(const Heartbeat& beat) {
    if (std::exchange(knows_holding_, true) || (beat.features & kResumes) == 0) return;
    const auto missed = state_.publisher.deltas_since(beat.epoch, beat.generation);
    if (missed) outbox_->go_on(beat.epoch, beat.generation, *missed);
}

void PublisherEnd::take(const Heartbeat& beat) {
    take_holding(beat);
    auto& pulse = state_.pulse(*kept_.peer);
    const bool listens = beat.objects == kListensElsewhere;
    if (std::exchange(pulse.listens_elsewhere, listens) != listens) pulse.wake_subscriber();
    pulse.it_cannot_dial = reason_in(beat.objects).empty() ? 0 : beat.objects;
    // A peer that came during the drain has missed the goodbye itself.
    if (pulse.it_cannot_dial == kHasLeftReport) pulse.said_goodbye = true;
    pulse.promised = beat.next;
    const auto took_reports = takes(kTakesReports);
    features_ = beat.features;
    state_.neighbours.set_renews(*kept_.peer, takes(kTakesRenewals));
    if (took_reports || !has_report()) return;
    report_follows_ = true;  // a new link need not wait for a heartbeat
    wake();
}

void PublisherEnd::begin(TimePoint now) {
    if (!kept_.peer) return end(make_error_code(Error::no_peer_any_more));
    heard_at_ = up_since_ = now;
    welcomed();
    // The peer may use the token at once, so the workers must know it before.
    state_.neighbours.accept(*kept_.peer, answer_->secrets.token);
    instance_ = answer_->instance;
    hello_.reset();
    answer_.reset();
    state_.invalidations.connected(*kept_.peer, instance_);
    kept_.behind_until = state_.invalidations.last();
    ++kept_.counters.connects;
    outbox_.emplace(Outbox::Config{state_.config.max_queued_bytes, state_.config.timings.heartbeat},
                    now);
    state_.subscribers.push_back(this);
    if (kept_.leaving) outbox_->say_goodbye();
    judge_standing();
    owner_.up_now();
}

/// A peer that was away may still store content invalidated meanwhile, and may have given it to
/// others. This node does not ask it until it has caught up. While the link is up, the age of a
/// copy suffices, since the delay is a few milliseconds.
void PublisherEnd::judge_standing() {
    state_.neighbours.set_lagging(*kept_.peer,
                                  state_.invalidations.confirmed(*kept_.peer) < kept_.behind_until);
}

std::optional<LinkEnd::Said> PublisherEnd::next(TimePoint now) {
    if (ended()) return std::nullopt;
    switch (std::exchange(says_, Says::nothing)) {
        case Says::hello:
            return HelloMessage(hello_->hello());
        case Says::proof:
            return HelloMessage(answer_->proof);
        case Says::nothing:
            break;
    }
    if (!outbox_) return std::nullopt;
    if (!finished()) {
        if (auto order = state_.invalidations.next(*kept_.peer, takes(kTakesRenewals))) {
            renewals_.clear();  // they may be of what the order ends
            return std::move(*order);
        }
        if (awaits_confirmation()) return std::nullopt;
        if (auto renewals = next_renewals(now)) return std::move(*renewals);
    }
    if (std::exchange(report_follows_, false)) {
        if (auto report = next_report(now)) return std::move(*report);
    }
    if (awaits_holding()) return std::nullopt;
    outbox_->beat_every(state_.beat_interval);
    auto message = outbox_->next(state_.publisher, now);
    if (!message) return std::nullopt;
    report_follows_ = std::holds_alternative<Heartbeat>(*message) && has_report();
    return std::move(*message);
}

void PublisherEnd::tell(const Renewal& renewal, TimePoint at, const summary::PeerSet& peers) {
    const auto is_wanted = takes(kTakesRenewals) && !kept_.leaving;
    if (!is_wanted || !peers.contains(static_cast<unsigned>(*kept_.peer)) ||
        renewals_.size() >= kMaxRenewalsAtOnce)
        return;
    renewals_.push_back({renewal, at});
    wake();
}

std::optional<Message> PublisherEnd::next_renewals(TimePoint now) {
    if (renewals_.empty()) return std::nullopt;
    Renewals all;
    all.sent_ms = state_.report.clock_at(now);
    for (auto& [what, at] : renewals_) {
        const auto age = std::chrono::duration_cast<std::chrono::milliseconds>(now - at).count();
        what.age_ms += static_cast<std::uint32_t>(std::max<std::int64_t>(age, 0));
        all.list.push_back(what);
    }
    renewals_.clear();
    return all;
}

bool PublisherEnd::has_report() const {
    return takes(kTakesReports) && !kept_.leaving && state_.report.bytes &&
           state_.report.number != reported_.number;
}

std::optional<Message> PublisherEnd::next_report(TimePoint now) {
    if (!has_report()) return std::nullopt;
    reported_ = state_.report;
    reported_.bytes = reported_.stamped(now);
    return Report{*reported_.bytes};
}

LinkEnd::TimePoint PublisherEnd::due() const {
    if (ended()) return TimePoint::max();
    if (says_ != Says::nothing) return TimePoint::min();
    if (!outbox_) return TimePoint::max();
    if (!finished() && state_.invalidations.has_next(*kept_.peer)) return TimePoint::min();
    if (awaits_confirmation()) return TimePoint::max();
    if (!finished() && !renewals_.empty()) return TimePoint::min();
    if (report_follows_) return TimePoint::min();
    return awaits_holding() ? TimePoint::max() : outbox_->due();
}

LinkEnd::Limit PublisherEnd::limit() const {
    if (!outbox_) return {hello_until_.at(), Error::hello_timeout};
    const auto heard_at = std::max(heard_at_, state_.pulse(*kept_.peer).heard_at);
    return {heard_at + state_.silence_limit(*kept_.peer), Error::peer_silent};
}

/// The goodbye waits for the confirmation of all invalidations.
bool PublisherEnd::awaits_confirmation() const {
    return kept_.leaving && state_.invalidations.pending(*kept_.peer) > 0;
}

void PublisherEnd::offer(const Announcement& announcement) {
    outbox_->offer(announcement);
    wake();
}

void PublisherEnd::say_goodbye() {
    kept_.leaving = true;
    if (!outbox_) return;
    outbox_->say_goodbye();
    wake();
}

}  // namespace protocol
