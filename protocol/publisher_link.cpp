#include "protocol/publisher_link.hpp"

#include <boost/asio/error.hpp>
#include <utility>
#include <vector>

namespace protocol {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

constexpr std::chrono::milliseconds kPlaceWhileConnecting{100};
constexpr std::chrono::milliseconds kPlaceWhileSilent{500};

void add(Outbox::Counters& sum, const Outbox::Counters& more) {
    sum.announcements += more.announcements;
    sum.snapshots += more.snapshots;
    sum.heartbeats += more.heartbeats;
    sum.overflows += more.overflows;
    sum.announcement_bytes += more.announcement_bytes;
}

Outbox::Config outbox_config(const ClusterConfig& config) {
    return {config.max_queued_bytes, config.timings.heartbeat};
}

}  // namespace

class PublisherLink::End final : public LinkEnd {
public:
    explicit End(PublisherLink& owner) : owner_(owner) {}

    Result<void> on_message(const Message& message, Clock::time_point) override {
        if (const auto* confirm = std::get_if<Confirm>(&message)) {
            owner_.wake();  // the goodbye may have waited for it
            return owner_.confirmed(confirm->last);
        }
        if (std::holds_alternative<SnapshotRequest>(message)) {
            owner_.outbox_->want_snapshot();
            owner_.wake();
        } else if (const auto* beat = std::get_if<Heartbeat>(&message)) {
            auto& pulse = owner_.shared_.pulse(*owner_.peer_);
            pulse.listens_elsewhere = beat->objects == kListensElsewhere;
            pulse.promised = beat->next;
        } else {
            return make_error_code(Error::unexpected_frame);
        }
        return {};
    }
    std::optional<Message> next(Clock::time_point now) override {
        // Ahead of all announcements, even in the middle of a snapshot: what peers must not use
        // any longer waits for nothing.
        if (!finished()) {
            if (auto order = owner_.shared_.invalidations.next(*owner_.peer_)) return order;
            if (awaits_confirmation()) return std::nullopt;
        }
        owner_.outbox_->beat_every(owner_.shared_.beat_interval);
        auto message = owner_.outbox_->next(owner_.shared_.publisher, now);
        if (owner_.shared_.plan_work) owner_.shared_.plan_work();
        return message;
    }
    Clock::time_point due() const override {
        return awaits_confirmation() ? Clock::time_point::max() : owner_.outbox_->due();
    }
    Clock::time_point heard_elsewhere() const override {
        return owner_.shared_.pulse(*owner_.peer_).heard_at;
    }
    Clock::duration silence_limit(Clock::duration) const override {
        return owner_.shared_.silence_limit(*owner_.peer_);
    }
    bool finished() const override { return owner_.outbox_->finished(); }

private:
    /// The goodbye comes when it is known that all invalidations have arrived.
    bool awaits_confirmation() const { return owner_.leaving_ && owner_.pending() > 0; }

    PublisherLink& owner_;
};

PublisherLink::PublisherLink(Shared& shared, std::uint64_t contact, PeerPlace place,
                             std::string node, std::optional<std::size_t> peer, Hooks hooks)
    : shared_(shared),
      contact_(contact),
      place_(std::move(place)),
      node_(std::move(node)),
      peer_(peer),
      hooks_(std::move(hooks)),
      name_("link to " + (node_.empty() ? place_.link().text() : node_)),
      backoff_(shared.config.timings.reconnect_min, shared.config.timings.reconnect_max),
      pause_(shared.executor) {}

std::uint64_t PublisherLink::pending() const {
    return peer_ ? shared_.invalidations.pending(*peer_) : 0;
}

/// Nothing is to be said there now.
bool PublisherLink::rests() const {
    return !dialled_ || (leaving_ && pending() == 0);
}

awaitable<void> PublisherLink::run() {
    while (!retired_) {
        if (rests()) {
            pause_.expires_at(Clock::time_point::max());
        } else {
            const auto error = co_await dial_and_publish();
            if (retired_) break;
            if (dialled_) note_end(error);
            if (error == asio::error::operation_aborted) co_return;
            if (std::exchange(dial_at_once_, false)) continue;
            if (rests()) continue;
            pause_.expires_after(backoff_.next());
        }
        co_await pause_.async_wait(as_result);
        dial_at_once_ = false;
    }
    shared_.doorstep.forget_contact(contact_);
}

void PublisherLink::retire() {
    retired_ = true;
    pause_.cancel();
    if (link_ != nullptr) link_->close(Error::no_peer_any_more);
}

void PublisherLink::set_dialled(bool dialled) {
    if (std::exchange(dialled_, dialled) == dialled || !dialled) return;
    backoff_.reset();
    pause_.cancel();
}

awaitable<error_code> PublisherLink::dial_and_publish() {
    auto place = co_await shared_.dial_places.take();
    if (!place.held()) co_return asio::error::make_error_code(asio::error::operation_aborted);
    // It may have waited for long.
    if (retired_ || rests()) co_return make_error_code(Error::no_peer_any_more);
    auto socket = co_await connect(place);
    if (!socket) co_return socket.error();
    if (!place.held()) place = co_await shared_.dial_places.take();
    if (!place.held()) co_return asio::error::make_error_code(asio::error::operation_aborted);
    Link link(std::move(*socket), traffic_);
    remote_ = link.remote();
    // Nor does one who is silent: a process that is stopped still takes connections.
    asio::steady_timer silent(shared_.executor, kPlaceWhileSilent);
    place.give_back_at(silent);
    const auto instance = co_await say_hello(link);
    const bool in_time = place.held();
    place.give_back();
    if (instance)
        in_time ? shared_.dial_places.hello_succeeded() : shared_.dial_places.hello_was_late();
    if (!instance) co_return instance.error();
    if (retired_) co_return make_error_code(Error::no_peer_any_more);
    const auto earlier = std::exchange(instance_, *instance);
    shared_.invalidations.connected(*peer_, instance_ != earlier);
    behind_until_ = shared_.invalidations.last();
    const auto began = Clock::now();
    const auto error = co_await publish(link);
    backoff_.link_lasted(Clock::now() - began);
    co_return error;
}

awaitable<Result<tcp::socket>> PublisherLink::connect(DialPlaces::Place& place) {
    const auto limit = shared_.config.timings.connect;
    remote_.clear();
    const auto endpoints = co_await shared_.resolver.resolve(place_.link(), Clock::now() + limit);
    if (!endpoints) co_return endpoints.error();
    std::vector<asio::ip::address> addresses;  // that is where it will dial us from, most likely
    for (const auto& endpoint : *endpoints) addresses.push_back(endpoint.address());
    shared_.doorstep.expect(contact_, std::move(addresses));
    // One who does not answer is no work for anybody, and holds up nobody.
    asio::steady_timer slow(shared_.executor, kPlaceWhileConnecting);
    place.give_back_at(slow);
    auto where = place_.link().text();
    auto socket =
        co_await shared_.dialer.connect(std::move(where), *endpoints, Clock::now() + limit);
    co_return socket;
}

awaitable<Result<Instance>> PublisherLink::say_hello(Link& link) {
    const auto deadline = Clock::now() + shared_.config.timings.hello;
    const PublisherHello hello(shared_.self, shared_.keys, node_, fresh_nonce(),
                               shared_.publisher.own().descriptor());
    HelloMessage first = hello.hello();
    const auto sent = co_await link.write_hello(std::move(first), deadline);
    if (!sent) co_return sent.error();
    const auto challenge = co_await link.read_hello(deadline);
    if (!challenge) co_return challenge.error();
    const auto answer = hello.on_message(*challenge);
    if (!answer && answer.error() == Error::own_id && !retired_) hooks_.met_self();
    if (!answer) co_return answer.error();
    if (retired_) co_return make_error_code(Error::no_peer_any_more);
    const auto peer = hooks_.met(answer->node, answer->instance);
    if (!peer) co_return peer.error();
    name_ = "link to " + answer->node;
    peer_ = *peer;
    link.secure(answer->secrets.from_publisher, answer->secrets.from_subscriber);
    HelloMessage proof = answer->proof;
    const auto proved = co_await link.write_hello(std::move(proof), deadline);
    if (!proved) co_return proved.error();
    const auto welcome = co_await link.read_welcome(deadline);
    if (!welcome) co_return welcome.error();
    if (retired_ || !peer_) co_return make_error_code(Error::no_peer_any_more);
    // The workers must know the token before the peer can have reason to use it.
    shared_.neighbours.accept(*peer_, answer->secrets.token);
    shared_.show_view_soon();
    co_return answer->instance;
}

awaitable<error_code> PublisherLink::publish(Link& link) {
    ++connects_;
    shared_.log.up(name_);
    last_error_.clear();
    outbox_.emplace(outbox_config(shared_.config), Clock::now());
    if (leaving_) outbox_->say_goodbye();
    dial_at_once_ = false;  // it was for this connection
    link_ = &link;
    judge_standing();
    hooks_.changed(true);
    End end(*this);
    const auto error = co_await link.run(end, shared_.config.timings.gone_after);
    link_ = nullptr;
    shared_.pulse(*peer_).listens_elsewhere = false;
    add(earlier_, outbox_->counters());
    outbox_.reset();
    if (retired_) co_return error;
    judge_standing();
    hooks_.changed(false);
    if (!retired_) hooks_.confirmed();
    co_return error;
}

void PublisherLink::note_end(const error_code& error) {
    if (error == asio::error::operation_aborted) return;  // we are stopping
    last_error_ = reason_of(error);
    const bool never_met = node_.empty() && !peer_;
    shared_.log.ended(name_, error, remote_, Clock::now(), never_met);
}

void PublisherLink::offer(const Announcement& announcement) {
    if (!outbox_) return;
    outbox_->offer(announcement);
    link_->wake();
}

void PublisherLink::offer(const CheckHash& check) {
    if (!outbox_) return;
    outbox_->offer(check);
    link_->wake();
}

void PublisherLink::invalidated() {
    if (outbox_) {
        dial_at_once_ = dial_at_once_ || outbox_->finished();  // this link takes no more
        return link_->wake();
    }
    judge_standing();
    if (leaving_) pause_.cancel();
}

Result<void> PublisherLink::confirmed(std::uint64_t last) {
    if (!shared_.invalidations.confirm(*peer_, last)) {
        return make_error_code(Error::unexpected_frame);
    }
    judge_standing();
    if (!retired_) hooks_.confirmed();
    return {};
}

/// What we invalidated while a peer was away it may still hold, and have given to others since:
/// nobody here asks it until it has caught up. While the link is up the age of a copy tells, as it
/// is a matter of milliseconds.
void PublisherLink::judge_standing() {
    if (!peer_) return;
    const auto& log = shared_.invalidations;
    const bool behind = outbox_ ? log.confirmed(*peer_) < behind_until_ : log.pending(*peer_) > 0;
    shared_.neighbours.set_behind(*peer_, behind);
    behind ? shared_.show_view() : shared_.show_view_soon();
}

void PublisherLink::say_goodbye() {
    leaving_ = true;
    pause_.cancel();
    if (!outbox_) return;
    outbox_->say_goodbye();
    link_->wake();
}

void PublisherLink::heard_of(const Instance& instance) {
    if (!dialled_) return;
    if (link_ != nullptr && instance_ == instance) return;
    dial_at_once_ = true;
    backoff_.reset();
    if (link_ != nullptr) {
        link_->close(Error::restarted);
    } else {
        pause_.cancel();
    }
}

Outbox::Counters PublisherLink::counters() const {
    auto sum = earlier_;
    if (outbox_) add(sum, outbox_->counters());
    return sum;
}

std::uint64_t PublisherLink::announcement_bytes() const {
    return counters().announcement_bytes;
}

void PublisherLink::report(ClusterStatus::Peer& status) const {
    const auto sum = counters();
    status.publishing = outbox_.has_value();
    status.announcements_sent += sum.announcements;
    status.snapshots_sent += sum.snapshots;
    status.heartbeats_sent += sum.heartbeats;
    status.overflows += sum.overflows;
    status.bytes_sent += traffic_.bytes_sent;
    status.bytes_received += traffic_.bytes_received;
    status.connects += connects_;
    if (!last_error_.empty()) status.last_error = last_error_;
}

}  // namespace protocol
