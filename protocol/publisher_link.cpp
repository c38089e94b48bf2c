#include "protocol/publisher_link.hpp"

#include <boost/asio/connect.hpp>
#include <boost/asio/error.hpp>
#include <utility>
#include <vector>

namespace protocol {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

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
            return owner_.confirmed(confirm->last);
        }
        if (std::holds_alternative<SnapshotRequest>(message)) {
            owner_.outbox_->want_snapshot();
        } else if (!std::holds_alternative<Heartbeat>(message)) {
            return make_error_code(Error::unexpected_frame);
        }
        return {};
    }
    std::optional<Message> next(Clock::time_point now) override {
        // Ahead of all announcements, even in the middle of a snapshot: what peers must not use
        // any longer waits for nothing.
        if (!finished()) {
            if (auto order = owner_.shared_.invalidations.next(owner_.peer_)) return order;
            if (awaits_confirmation()) return std::nullopt;
        }
        auto message = owner_.outbox_->next(owner_.shared_.publisher, now);
        if (owner_.shared_.plan_work) owner_.shared_.plan_work();
        return message;
    }
    Clock::time_point due() const override {
        return awaits_confirmation() ? Clock::time_point::max() : owner_.outbox_->due();
    }
    bool finished() const override { return owner_.outbox_->finished(); }

private:
    /// The goodbye comes when it is known that all invalidations have arrived.
    bool awaits_confirmation() const {
        return owner_.leaving_ && owner_.shared_.invalidations.pending(owner_.peer_) > 0;
    }

    PublisherLink& owner_;
};

PublisherLink::PublisherLink(Shared& shared, std::size_t peer, std::function<void()> on_confirmed)
    : shared_(shared),
      peer_(peer),
      on_confirmed_(std::move(on_confirmed)),
      name_("link to " + shared.config.peers[peer].node),
      backoff_(shared.config.timings.reconnect_min, shared.config.timings.reconnect_max),
      pause_(shared.executor) {}

awaitable<void> PublisherLink::run() {
    for (;;) {
        if (leaving_ && shared_.invalidations.pending(peer_) == 0) {
            pause_.expires_at(Clock::time_point::max());
        } else {
            const auto error = co_await dial_and_publish();
            note_end(error);
            if (error == asio::error::operation_aborted) co_return;
            if (std::exchange(dial_at_once_, false)) continue;
            pause_.expires_after(backoff_.next());
        }
        co_await pause_.async_wait(as_result);
        dial_at_once_ = false;
    }
}

awaitable<error_code> PublisherLink::dial_and_publish() {
    auto socket = co_await connect();
    if (!socket) co_return socket.error();
    Link link(std::move(*socket), traffic_);
    remote_ = link.remote();
    const auto instance = co_await say_hello(link);
    if (!instance) co_return instance.error();
    const auto earlier = std::exchange(instance_, *instance);
    shared_.invalidations.connected(peer_, instance_ != earlier);
    behind_until_ = shared_.invalidations.last();
    const auto began = Clock::now();
    const auto error = co_await publish(link);
    backoff_.link_lasted(Clock::now() - began);
    co_return error;
}

awaitable<Result<tcp::socket>> PublisherLink::connect() {
    const auto& peer = shared_.config.peers[peer_];
    const auto limit = shared_.config.timings.connect;
    remote_.clear();
    const auto endpoints =
        co_await shared_.resolver.resolve(peer.link_host, peer.link_port, Clock::now() + limit);
    if (!endpoints) co_return endpoints.error();
    std::vector<asio::ip::address> addresses;  // that is where it will dial us from, most likely
    for (const auto& endpoint : *endpoints) addresses.push_back(endpoint.address());
    shared_.doorstep.expect(peer_, std::move(addresses));
    auto place = peer.link_host + ':' + peer.link_port;
    co_return co_await shared_.dialer.connect(std::move(place), *endpoints, Clock::now() + limit);
}

awaitable<Result<Instance>> PublisherLink::say_hello(Link& link) {
    const auto deadline = Clock::now() + shared_.config.timings.hello;
    const PublisherHello hello(shared_.self, shared_.keys, shared_.config.peers[peer_].node,
                               fresh_nonce(), shared_.publisher.own().shape());
    HelloMessage first = hello.hello();
    const auto sent = co_await link.write_hello(std::move(first), deadline);
    if (!sent) co_return sent.error();
    const auto challenge = co_await link.read_hello(deadline);
    if (!challenge) co_return challenge.error();
    const auto answer = hello.on_message(*challenge);
    if (!answer) co_return answer.error();
    link.secure(answer->secrets.from_publisher, answer->secrets.from_subscriber);
    HelloMessage proof = answer->proof;
    const auto proved = co_await link.write_hello(std::move(proof), deadline);
    if (!proved) co_return proved.error();
    const auto welcome = co_await link.read_welcome(deadline);
    if (!welcome) co_return welcome.error();
    // The workers must know the token before the peer can have reason to use it.
    shared_.neighbours.accept(peer_, answer->secrets.token);
    shared_.show_view();
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
    End end(*this);
    const auto error = co_await link.run(end, shared_.config.timings.gone_after);
    link_ = nullptr;
    add(earlier_, outbox_->counters());
    outbox_.reset();
    judge_standing();
    on_confirmed_();
    co_return error;
}

void PublisherLink::note_end(const error_code& error) {
    if (error == asio::error::operation_aborted) return;  // we are stopping
    last_error_ = reason_of(error);
    shared_.log.ended(name_, error, remote_, Clock::now());
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
    if (outbox_) return link_->wake();
    judge_standing();
    if (leaving_) pause_.cancel();
}

Result<void> PublisherLink::confirmed(std::uint64_t last) {
    if (!shared_.invalidations.confirm(peer_, last)) {
        return make_error_code(Error::unexpected_frame);
    }
    judge_standing();
    on_confirmed_();
    return {};
}

/// What we invalidated while a peer was away it may still hold, and have given to others since:
/// nobody here asks it until it has caught up. While the link is up the age of a copy tells, as it
/// is a matter of milliseconds.
void PublisherLink::judge_standing() {
    const auto& log = shared_.invalidations;
    const bool behind = outbox_ ? log.confirmed(peer_) < behind_until_ : log.pending(peer_) > 0;
    shared_.neighbours.set_behind(peer_, behind);
    shared_.show_view();
}

void PublisherLink::say_goodbye() {
    leaving_ = true;
    pause_.cancel();
    if (!outbox_) return;
    outbox_->say_goodbye();
    link_->wake();
}

void PublisherLink::heard_of(const Instance& instance) {
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
    status.announcements_sent = sum.announcements;
    status.snapshots_sent = sum.snapshots;
    status.heartbeats_sent = sum.heartbeats;
    status.overflows = sum.overflows;
    status.bytes_sent += traffic_.bytes_sent;
    status.bytes_received += traffic_.bytes_received;
    status.connects = connects_;
    const auto& log = shared_.invalidations;
    status.invalidations_sent = log.sent(peer_);
    status.invalidations_confirmed = log.confirmed(peer_);
    status.invalidations_pending = log.pending(peer_);
    if (!last_error_.empty()) status.last_error = last_error_;
}

}  // namespace protocol
