#include "protocol/links/subscriber_end.hpp"

#include <algorithm>
#include <boost/asio/error.hpp>
#include <cstring>
#include <utility>

#include "protocol/links/link_security.hpp"

namespace protocol {
namespace {

using boost::system::error_code;

/// An earlier link heard within this many heartbeats is alive, so two nodes have one name.
constexpr int kBeatsAlive = 2;

/// A peer that comes back within this time gets no snapshot if it still has the deltas. At a change
/// of a kilobyte a second, a publisher's deltas reach back a little farther. The memory is that of
/// the peer while it is there.
constexpr std::chrono::minutes kReplicaKept{10};

/// PeerView::Peer::instance.
std::uint64_t number_of(const Instance& instance) {
    std::uint64_t number = 0;
    std::memcpy(&number, instance.data(), sizeof number);
    return number == 0 ? 1 : number;
}

}  // namespace

void PeerFeeds::add_peer(std::size_t peer, TimePoint now) {
    while (slots_.size() <= peer) slots_.emplace_back();
    auto& slot = slots_[peer];
    slot = Slot();
    slot.confirmed_at = now;
}

void PeerFeeds::remove_peer(std::size_t peer) {
    state_.hello_backlog.forget_peer(peer);
    if (auto* const end = slots_[peer].end) {
        end->leave(make_error_code(Error::no_peer_any_more));
        end->close(make_error_code(Error::no_peer_any_more));
    }
    forget_replica(peer);
}

void PeerFeeds::tidy(TimePoint now) {
    for (std::size_t peer = 0; peer < slots_.size(); ++peer)
        if (now - slots_[peer].left_at >= kReplicaKept) forget_replica(peer);
}

void PeerFeeds::forget_replica(std::size_t peer) {
    if (!slots_[peer].left_replica) return;
    state_.neighbours.end_feed(peer);
    slots_[peer].left_replica.reset();
}

void PeerFeeds::take_over(const PeerFeeds& earlier, std::size_t peer) {
    slots_[peer].instance = earlier.slots_[peer].instance;
    slots_[peer].receipts = earlier.slots_[peer].receipts;
    slots_[peer].descriptors = earlier.slots_[peer].descriptors;
    slots_[peer].report = earlier.slots_[peer].report;
}

void PeerFeeds::close() {
    closed_ = true;
    const auto stopped = boost::asio::error::make_error_code(boost::asio::error::operation_aborted);
    for (const auto& [ticket, end] : hellos_) end->close(stopped);
    for (const auto& slot : slots_)
        if (slot.end != nullptr) slot.end->close(stopped);
}

void PeerFeeds::add_to(std::size_t peer, TimePoint now, ClusterStatus::Peer& status) const {
    const auto& slot = slots_[peer];
    add(status, slot.counters);
    auto confirmed_at = slot.confirmed_at;
    if (slot.end != nullptr) {
        const auto& session = *slot.end->session_;
        const auto& replica = session.replica();
        add(status, session.counters());
        confirmed_at = session.confirmed_at();
        status.epoch = replica.epoch();
        status.generation = replica.generation();
        const auto summary = describe(replica.descriptor());
        status.bits = summary.bits;
        status.hashes = summary.hashes;
        status.objects = session.objects();
    }
    status.state = state(peer);
    status.lag_seconds = std::chrono::duration<double>(now - confirmed_at).count();
    // A later link with the key has disproved these reasons.
    const auto& error = status.last_end.error;
    const bool is_of_keys = error == Error::wrong_version || error == Error::wrong_key ||
                            error == Error::bad_proof || error == Error::other_hash_key ||
                            error == Error::rules_differ;
    if (is_of_keys && slot.linked_at && *slot.linked_at >= status.last_end.at) status.last_end = {};
    // A peer that has left cannot be reached; that needs no report.
    if (status.state == PeerState::withdrawn && !is_refusal(status.last_end.error))
        status.last_end = {};
    status.last_end.take_later(slot.last_end);
}

PeerState PeerFeeds::state(std::size_t peer) const {
    const auto& slot = slots_[peer];
    if (slot.state != PeerState::in_sync) return slot.state;
    if (state_.neighbours.lagging(peer)) return PeerState::lagging;
    if (!state_.neighbours.can_be_asked(peer)) return PeerState::no_address;
    return state_.neighbours.present(peer) ? PeerState::in_sync : PeerState::waiting_snapshot;
}

std::optional<PeerFeeds::TimePoint> PeerFeeds::silent_since(std::size_t peer) const {
    const auto& slot = slots_[peer];
    if (slot.end != nullptr) return std::nullopt;
    return slot.left_at;
}

std::optional<PeerFeeds::Address> PeerFeeds::came_from(std::size_t peer) const {
    const auto& slot = slots_[peer];
    if (slot.end == nullptr) return std::nullopt;
    return slot.end->from_;
}

SubscriberEnd::SubscriberEnd(PeerFeeds& all, const PeerFeeds::Address& from, const Nonce& nonce,
                             TimePoint now)
    : all_(all),
      state_(all.state_),
      from_(from),
      hello_(std::in_place, state_.self, state_.keys, state_.rules, nonce),
      hello_until_(state_.config.timings.hello, now),
      heard_at_(now) {
    const auto arrival = state_.hello_backlog.arrive(from_);
    ticket_ = arrival.ticket;
    all_.hellos_.emplace(arrival.ticket, this);
    if (!arrival.gives_way) return;
    const auto other = all_.hellos_.find(*arrival.gives_way);
    other->second->close(make_error_code(Error::too_many_links));
}

SubscriberEnd::~SubscriberEnd() {
    leave_backlog();
    leave(error_code(boost::asio::error::operation_aborted));
}

bool SubscriberEnd::leave_backlog() {
    if (!ticket_) return false;
    state_.hello_backlog.leave(*ticket_);
    all_.hellos_.erase(*ticket_);
    ticket_.reset();
    return true;
}

void SubscriberEnd::on_hello(const base::Result<HelloMessage>& message, TimePoint now) {
    if (ended()) return;
    if (!message) return refuse(message.error());
    hello_->challenged() ? take_proof(*message, now) : take_hello(*message);
}

void SubscriberEnd::take_hello(const HelloMessage& message) {
    const auto challenge = hello_->on_hello(message);
    caller_ = {hello_->hello().from, hello_->hello().to};
    if (!challenge) return refuse(challenge.error());
    if (const auto error = judge_encryption(state_.config.security, encrypted()))
        return refuse(error);
    says_ = HelloMessage(*challenge);
}

void SubscriberEnd::take_proof(const HelloMessage& message, TimePoint now) {
    const auto secrets = hello_->on_proof(message);
    if (!secrets) return refuse(secrets.error());
    proven_ = state_.neighbours.index_of(hello_->hello().from);
    if (const auto error = hello_->judge_summary()) return refuse(error);
    if (const auto error = admit(now)) return refuse(error);
    leave_backlog();
    secure(secrets->from_subscriber, secrets->from_publisher);
    if (!has_last_words_) {
        state_.hello_backlog.proved(*peer_, from_);
        all_.owner_.heard_of(*peer_, all_.slots_[*peer_].instance);
        state_.neighbours.begin_feed(
            *peer_, {secrets->token, number_of(all_.slots_[*peer_].instance), encrypted()});
    }
    says_ = Message(Welcome{});
    welcomed();
    hello_.reset();
}

/// A peer has one link to this node. A second connection of the same instance replaces the first. A
/// connection of another instance does so too, unless the first is clearly alive: then two nodes
/// have this name. An instance that has said goodbye, and whose name another instance has taken,
/// may still send its invalidations.
error_code SubscriberEnd::admit(TimePoint now) {
    const auto& node = hello_->hello().from;
    const auto& instance = hello_->hello().instance;
    if (const auto known = state_.neighbours.index_of(node)) {
        const auto& slot = all_.slots_[*known];
        const bool is_other = slot.instance != instance;
        if (is_other && state_.membership.peers()[*known].left == instance) {
            has_last_words_ = true;
            begin_session(*known, std::make_shared<Receipts>(), nullptr, now);
            return {};
        }
        if (slot.end != nullptr && is_other) {
            const auto alive_within =
                kBeatsAlive * std::max<std::chrono::nanoseconds>(state_.config.timings.heartbeat,
                                                                 state_.pulse(*known).promised);
            const bool alive = now - slot.end->heard_at_ < alive_within;
            if (alive) return make_error_code(Error::duplicate_id);
        }
    }
    const auto peer = all_.owner_.admit(node, instance, from_);
    if (!peer)
        return make_error_code(state_.membership.admits(node) ? Error::peers_full
                                                              : Error::unknown_node);
    auto& slot = all_.slots_[*peer];
    if (auto* const earlier = slot.end) {
        earlier->leave(make_error_code(Error::superseded));
        earlier->close(make_error_code(Error::superseded));
    }
    if (slot.instance != instance) {
        slot.receipts = std::make_shared<Receipts>();
        all_.forget_replica(*peer);
    }
    begin_session(*peer, slot.receipts, std::move(slot.left_replica), now);
    slot.end = this;
    slot.instance = instance;
    slot.state = PeerState::waiting_snapshot;
    slot.last_end = {};
    slot.linked_at = now;
    auto& pulse = state_.pulse(*peer);
    pulse.said_goodbye = false;
    pulse.it_cannot_dial = 0;
    pulse.subscriber = this;
    return {};
}

void SubscriberEnd::begin_session(std::size_t peer, const std::shared_ptr<Receipts>& receipts,
                                  std::unique_ptr<summary::Replica> left, TimePoint now) {
    peer_ = peer;
    traffic_ = &all_.slots_[peer].counters;
    receipts_ = receipts;
    receipts_->listen(*this);
    session_.emplace(
        SyncSession::Config{state_.config.max_summary_bytes, state_.config.timings.heartbeat}, now,
        receipts_->handed_out(), receipts_->kept(), std::move(left));
    heard_at_ = now;
}

/// Sends the reason to the other end, if it is a refusal.
void SubscriberEnd::refuse(const error_code& error) {
    if (is_refusal(error)) says_ = HelloMessage(Refusal{static_cast<Error>(error.value())});
    end(error);
}

void SubscriberEnd::on_message(const Message& message, TimePoint now) {
    if (ended()) return;
    // The message must stay unconfirmed.
    if (all_.closed_) return end(error_code(boost::asio::error::operation_aborted));
    heard_at_ = now;
    if (has_last_words_) return take_last_words(message, now);
    const auto peer = *peer_;
    auto& slot = all_.slots_[peer];
    auto& pulse = state_.pulse(peer);
    pulse.heard_at = now;
    if (const auto* beat = std::get_if<Heartbeat>(&message)) pulse.promised = beat->next;
    if (const auto* report = std::get_if<Report>(&message)) {
        slot.report.bytes.assign(report->body.begin(), report->body.end());
        slot.report.at = now;
        return;
    }
    const auto* renewals = std::get_if<Renewals>(&message);
    if (renewals != nullptr && state_.hooks.on_renewals)
        state_.hooks.on_renewals(state_.neighbours.node(peer), *renewals);
    const auto* begin = std::get_if<SnapshotBegin>(&message);
    if (begin != nullptr && !slot.descriptors.take(begin->summary, now))
        return end(make_error_code(Error::too_many_shapes));
    const auto action = session_->on_message(message, now);
    if (action) {
        if (const auto* close = std::get_if<SyncSession::Close>(&*action))
            return end(make_error_code(close->reason));
        if (const auto* change = std::get_if<SyncSession::Change>(&*action)) {
            state_.neighbours.change(peer, change->what);
        } else if (const auto* drop = std::get_if<SyncSession::Drop>(&*action)) {
            apply(*drop);
        } else if (std::holds_alternative<SyncSession::Resume>(*action)) {
            state_.neighbours.resume_feed(peer);
            note_in_sync();
        } else {
            load();
        }
    }
    slot.state = session_->in_sync() ? PeerState::in_sync : PeerState::waiting_snapshot;
    state_.neighbours.set_in_sync(peer, session_->in_sync());
}

/// Only the instance's invalidations count.
void SubscriberEnd::take_last_words(const Message& message, TimePoint now) {
    if (std::holds_alternative<Report>(message) || std::holds_alternative<Renewals>(message))
        return;
    if (std::holds_alternative<SnapshotBegin>(message))
        return end(make_error_code(Error::duplicate_id));
    const auto action = session_->on_message(message, now);
    if (!action) return;
    if (const auto* close = std::get_if<SyncSession::Close>(&*action))
        return end(make_error_code(close->reason));
    if (const auto* drop = std::get_if<SyncSession::Drop>(&*action)) apply(*drop);
}

void SubscriberEnd::apply(const Invalidation& what) {
    auto done = receipts_->hand_out(session_->applied());
    if (!state_.hooks.on_invalidation) return done();
    try {
        state_.hooks.on_invalidation(what, std::move(done));
    } catch (...) {
        // The exception ends the link. The next link repeats the invalidations that are not kept,
        // and applies them.
        receipts_->leave(*this);
        auto& of_the_instance = all_.slots_[*peer_].receipts;
        if (of_the_instance == receipts_)
            of_the_instance = std::make_shared<Receipts>(receipts_->kept());
        throw;
    }
}

void SubscriberEnd::more_is_kept() {
    session_->kept(receipts_->kept());
    wake();
}

void SubscriberEnd::load() {
    auto& replica = session_->replica();
    state_.neighbours.load(*peer_, replica);
    if (session_->counters().snapshots_received == 1) note_in_sync();
}

void SubscriberEnd::note_in_sync() {
    all_.owner_.in_sync(*peer_, session_->objects(), describe(session_->replica().descriptor()));
}

std::optional<LinkEnd::Said> SubscriberEnd::next(TimePoint now) {
    if (says_) return std::exchange(says_, std::nullopt);
    if (ended() || !session_) return std::nullopt;
    session_->beat_every(state_.beat_interval);
    session_->set_heard_elsewhere(state_.pulse(*peer_).listens_elsewhere);
    session_->set_dial_report(state_.pulse(*peer_).cannot_dial);
    auto message = session_->next(now);
    if (!message) return std::nullopt;
    if (auto* beat = std::get_if<Heartbeat>(&*message))
        beat->features = kTakesReports | kTakesRenewals | kResumes;
    return std::move(*message);
}

LinkEnd::TimePoint SubscriberEnd::due() const {
    if (says_) return TimePoint::min();
    if (ended() || !session_) return TimePoint::max();
    return session_->due();
}

LinkEnd::Limit SubscriberEnd::limit() const {
    if (!session_) return {hello_until_.at(), Error::hello_timeout};
    return {heard_at_ + state_.silence_limit(*peer_), Error::peer_silent};
}

void SubscriberEnd::over_because(const error_code& error, TimePoint now) {
    leave_backlog();
    const bool stops = error == boost::asio::error::operation_aborted;
    if (has_last_words_) return leave(error);
    if (peer_) {
        leave(error);
        auto& slot = all_.slots_[*peer_];
        // Otherwise a newer link is up.
        if (slot.end == nullptr) slot.left_at = now;
        if (!stops && slot.end == nullptr) slot.last_end = {error, now};
    } else if (proven_ && !stops && all_.slots_[*proven_].end == nullptr) {
        all_.slots_[*proven_].state = PeerState::refused;
        all_.slots_[*proven_].last_end = {error, now};
    }
}

void SubscriberEnd::leave(const error_code& error) {
    if (receipts_) receipts_->leave(*this);
    if (!peer_ || all_.slots_[*peer_].end != this) return;  // a newer end has its place
    auto& slot = all_.slots_[*peer_];
    add(slot.counters, session_->counters());
    slot.confirmed_at = session_->confirmed_at();
    slot.end = nullptr;
    slot.state = error == Error::goodbye ? PeerState::withdrawn : PeerState::gone;
    state_.pulse(*peer_).said_goodbye = error == Error::goodbye;
    state_.pulse(*peer_).subscriber = nullptr;
    if (error == Error::goodbye) state_.membership.said_goodbye(*peer_, slot.instance);
    end_feed(error);
    if (!all_.closed_) all_.owner_.left(*peer_);
}

/// A goodbye frees the name, and a peer that is removed or a node that stops has no next link.
void SubscriberEnd::end_feed(const error_code& error) {
    const bool may_return =
        !all_.closed_ && error != Error::goodbye && error != Error::no_peer_any_more;
    auto replica = may_return ? session_->leave_replica() : nullptr;
    if (replica && state_.neighbours.pause_feed(*peer_)) {
        all_.slots_[*peer_].left_replica = std::move(replica);
    } else {
        state_.neighbours.end_feed(*peer_);
    }
}

}  // namespace protocol
