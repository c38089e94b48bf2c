#include "protocol/subscriber_links.hpp"

#include <algorithm>
#include <boost/asio/error.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/system/system_error.hpp>
#include <utility>

#include "summary/judge.hpp"

namespace protocol {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

/// An earlier link heard within so many heartbeats is alive: then there are two nodes of one name.
constexpr int kBeatsAlive = 2;

void add(SyncSession::Counters& sum, const SyncSession::Counters& more) {
    sum.announcements += more.announcements;
    sum.announcement_bytes += more.announcement_bytes;
    sum.snapshots += more.snapshots;
    sum.heartbeats += more.heartbeats;
    sum.resyncs += more.resyncs;
    sum.check_failures += more.check_failures;
    sum.invalidations += more.invalidations;
}

[[noreturn]] void cannot_listen(const ClusterConfig& config, const error_code& error) {
    throw boost::system::system_error(error, "cannot listen for peers on " + config.listen->text());
}

tcp::endpoint listen_endpoint(const ClusterConfig& config, const asio::any_io_executor& executor) {
    error_code error;
    tcp::resolver resolver(executor);
    const auto flags = tcp::resolver::passive | tcp::resolver::numeric_service;
    const auto found =
        resolver.resolve(config.listen->host, std::to_string(config.listen->port), flags, error);
    if (error) cannot_listen(config, error);
    return found.begin()->endpoint();
}

}  // namespace

class SubscriberLinks::End final : public LinkEnd {
public:
    End(SubscriberLinks& owner, std::size_t peer, SyncSession& session)
        : owner_(owner), peer_(peer), session_(session) {}

    Result<void> on_message(const Message& message, Clock::time_point now) override {
        // Nobody is there any more to apply what it says; it must not be confirmed.
        if (owner_.closed_) return error_code(asio::error::operation_aborted);
        auto& pulse = owner_.shared_.pulse(peer_);
        pulse.heard_at = now;
        if (const auto* beat = std::get_if<Heartbeat>(&message)) pulse.promised = beat->next;
        const auto* begin = std::get_if<SnapshotBegin>(&message);
        if (begin != nullptr && !owner_.slots_[peer_].shapes.take(begin->summary, now)) {
            return make_error_code(Error::too_many_shapes);
        }
        const auto action = session_.on_message(message, now);
        auto& neighbours = owner_.shared_.neighbours;
        if (action) {
            if (const auto* close = std::get_if<SyncSession::Close>(&*action)) {
                return make_error_code(close->reason);
            }
            if (const auto* change = std::get_if<SyncSession::Change>(&*action)) {
                neighbours.change(peer_, change->what);
            } else if (const auto* drop = std::get_if<SyncSession::Drop>(&*action)) {
                apply(*drop);
            } else {
                load();
            }
        }
        auto& state = owner_.slots_[peer_].state;
        state = session_.in_step() ? PeerState::in_step : PeerState::waiting_snapshot;
        neighbours.set_in_step(peer_, session_.in_step());
        owner_.shared_.show_view_soon();
        if (owner_.shared_.plan_work) owner_.shared_.plan_work();
        return {};
    }
    std::optional<Message> next(Clock::time_point now) override {
        session_.beat_every(owner_.shared_.beat_interval);
        session_.set_heard_elsewhere(owner_.shared_.pulse(peer_).listens_elsewhere);
        return session_.next(now);
    }
    Clock::time_point due() const override { return session_.due(); }
    Clock::duration silence_limit(Clock::duration) const override {
        return owner_.shared_.silence_limit(peer_);
    }
    bool finished() const override { return false; }

private:
    void apply(const SyncSession::Drop& drop) {
        const auto& on_invalidation = owner_.shared_.hooks.on_invalidation;
        if (on_invalidation)
            on_invalidation({{drop.keys.begin(), drop.keys.end()},
                             {drop.tags.begin(), drop.tags.end()},
                             drop.all});
        owner_.slots_[peer_].applied = session_.applied();
    }

    void load() {
        const auto& replica = session_.replica();
        owner_.shared_.neighbours.load(peer_, replica);
        if (session_.counters().snapshots > 1) return;
        const auto summary = describe(replica.descriptor());
        owner_.shared_.log.in_step(owner_.shared_.neighbours.node(peer_), session_.objects(),
                                   summary.bits, summary.hashes);
    }

    SubscriberLinks& owner_;
    std::size_t peer_;
    SyncSession& session_;
};

SubscriberLinks::SubscriberLinks(Shared& shared, Hooks hooks)
    : shared_(shared), hooks_(std::move(hooks)), listener_(shared.executor) {}

void SubscriberLinks::add_peer(std::size_t peer, const std::string& node) {
    while (slots_.size() <= peer) slots_.emplace_back();
    auto& slot = slots_[peer];
    slot = Slot();
    slot.name = "link from " + node;
    slot.confirmed_at = Clock::now();
}

void SubscriberLinks::remove_peer(std::size_t peer) {
    auto& slot = slots_[peer];
    shared_.doorstep.forget_peer(peer);
    if (slot.link == nullptr) return;
    auto* const link = slot.link;
    leave(slot, peer, make_error_code(Error::no_peer_any_more));
    link->close(Error::no_peer_any_more);
}

void SubscriberLinks::bind() {
    const auto& config = shared_.config;
    const auto endpoint = listen_endpoint(config, shared_.executor);
    if (const auto error = listener_.listen(endpoint)) cannot_listen(config, error);
}

void SubscriberLinks::bind_in_place_of(SubscriberLinks& earlier) {
    listener_.assign(earlier.listener_.release());
}

void SubscriberLinks::take_over(const SubscriberLinks& earlier, std::size_t peer) {
    slots_[peer].instance = earlier.slots_[peer].instance;
    slots_[peer].applied = earlier.slots_[peer].applied;
    slots_[peer].shapes = earlier.slots_[peer].shapes;
}

std::uint16_t SubscriberLinks::port() const {
    return listener_.port();
}

void SubscriberLinks::close() {
    closed_ = true;
    listener_.close();
}

awaitable<void> SubscriberLinks::listen(TaskGroup& tasks, std::shared_ptr<void> owner) {
    Listener::Hooks hooks;
    hooks.take = [this, &tasks, owner = std::move(owner)](tcp::socket socket) {
        auto task = serve(owner, std::move(socket));
        tasks.spawn(std::move(task));
    };
    hooks.trouble = [this](const error_code& error, std::size_t) {
        shared_.log.ended("listening for peers", error, "", Clock::now());
    };
    auto listening = listener_.run(std::move(hooks));
    co_await std::move(listening);
}

awaitable<void> SubscriberLinks::serve([[maybe_unused]] std::shared_ptr<void> owner,
                                       tcp::socket socket) {
    Link link(std::move(socket), unknown_);
    std::optional<std::size_t> claimed;
    const auto ticket = take_place(link);
    const auto leave_place = [&](const void*) { give_up_place(ticket); };
    std::unique_ptr<const void, decltype(leave_place)> at_end(&link, leave_place);
    auto greeted = co_await greet(link, claimed);
    if (!give_up_place(ticket)) greeted = make_error_code(Error::too_many_links);
    at_end.release();
    if (!greeted) {
        note_refusal(link, claimed, greeted.error());
        co_return;
    }
    shared_.doorstep.proved(greeted->peer, link.remote_address());
    auto& slot = slots_[greeted->peer];
    link.count_into(slot.traffic);
    const auto error = co_await subscribe(link, *greeted);
    if (error == asio::error::operation_aborted) co_return;        // we are stopping
    if (slot.link == nullptr) slot.last_error = reason_of(error);  // else there is a newer one
    shared_.log.ended(slot.name, error, link.remote(), Clock::now());
}

Doorstep::Ticket SubscriberLinks::take_place(Link& link) {
    const auto arrival = shared_.doorstep.arrive(link.remote_address());
    hellos_.emplace(arrival.ticket, &link);
    if (arrival.gives_way) {
        const auto other = hellos_.extract(*arrival.gives_way);
        other.mapped()->close(Error::too_many_links);
    }
    return arrival.ticket;
}

bool SubscriberLinks::give_up_place(Doorstep::Ticket ticket) {
    shared_.doorstep.leave(ticket);
    return hellos_.erase(ticket) > 0;
}

awaitable<Result<SubscriberLinks::Greeted>> SubscriberLinks::greet(
    Link& link, std::optional<std::size_t>& claimed) {
    const auto deadline = Clock::now() + shared_.config.timings.hello;
    SubscriberHello hello(shared_.self, shared_.keys, shared_.rules, fresh_nonce());
    const auto first = co_await link.read_hello(deadline);
    if (!first) {
        co_await refuse(link, first.error());
        co_return first.error();
    }
    const auto challenge = hello.on_hello(*first);
    claimed = shared_.neighbours.index_of(hello.hello().from);
    if (!challenge) {
        co_await refuse(link, challenge.error());
        co_return challenge.error();
    }
    if (claimed && slots_[*claimed].link == nullptr) slots_[*claimed].state = PeerState::hello;
    HelloMessage second = *challenge;
    const auto sent = co_await link.write_hello(std::move(second), deadline);
    if (!sent) co_return sent.error();
    const auto third = co_await link.read_hello(deadline);
    if (!third) co_return third.error();
    const auto secrets = hello.on_proof(*third);
    if (!secrets) {
        co_await refuse(link, secrets.error());
        co_return secrets.error();
    }
    Greeted greeted;
    greeted.node = hello.hello().from;
    greeted.secrets = *secrets;
    greeted.instance = hello.hello().instance;
    if (const auto error = admit(greeted, link.remote_address())) {
        co_await refuse(link, error);
        co_return error;
    }
    link.secure(secrets->from_subscriber, secrets->from_publisher);
    co_return greeted;
}

/// Tells the other end why, if the reason is one that travels.
awaitable<void> SubscriberLinks::refuse(Link& link, error_code error) {
    const bool travels = error.category() == error_category() &&
                         error.value() >= static_cast<int>(Error::first_refusal);
    if (!travels) co_return;
    HelloMessage refusal = Refusal{static_cast<Error>(error.value())};
    const auto deadline = Clock::now() + shared_.config.timings.hello;
    co_await link.write_hello(std::move(refusal), deadline);
}

/// A peer has one link to us. A second connection of the same run replaces the first; one of
/// another run too, unless the first is plainly alive: then there are two of them.
error_code SubscriberLinks::admit(Greeted& greeted, const asio::ip::address& from) {
    const auto known = shared_.neighbours.index_of(greeted.node);
    if (known && slots_[*known].link != nullptr && slots_[*known].instance != greeted.instance) {
        const auto alive_within =
            kBeatsAlive * std::max<Clock::duration>(shared_.config.timings.heartbeat,
                                                    shared_.pulse(*known).promised);
        const bool alive = Clock::now() - slots_[*known].link->heard_at() < alive_within;
        if (alive) return make_error_code(Error::duplicate_id);
    }
    const auto peer = hooks_.admit(greeted.node, greeted.instance, from);
    if (!peer)
        return make_error_code(shared_.membership.admits(greeted.node) ? Error::peers_full
                                                                       : Error::unknown_node);
    greeted.peer = *peer;
    auto& slot = slots_[greeted.peer];
    if (slot.link == nullptr) return {};
    auto* const earlier = slot.link;
    leave(slot, greeted.peer, make_error_code(Error::superseded));
    earlier->close(Error::superseded);
    return {};
}

awaitable<error_code> SubscriberLinks::subscribe(Link& link, const Greeted& greeted) {
    const auto& timings = shared_.config.timings;
    auto& slot = slots_[greeted.peer];
    if (slot.instance != greeted.instance) slot.applied = 0;
    SyncSession session({shared_.config.max_summary_bytes, timings.heartbeat}, Clock::now(),
                        slot.applied);
    slot.link = &link;
    slot.session = &session;
    slot.instance = greeted.instance;
    slot.state = PeerState::waiting_snapshot;

    // Runs when this coroutine ends in whatever way; a newer connection may have taken the place.
    error_code error = asio::error::operation_aborted;
    const auto end_it = [&](const void*) {
        if (slot.link == &link) leave(slot, greeted.peer, error);
    };
    const std::unique_ptr<const void, decltype(end_it)> at_end(&link, end_it);

    hooks_.heard_of(greeted.peer, greeted.instance);
    shared_.neighbours.linked(greeted.peer, greeted.secrets.token);
    shared_.show_view_soon();
    link.write_welcome();
    shared_.log.up(slot.name);
    slot.last_error.clear();
    End end(*this, greeted.peer, session);
    error = co_await link.run(end, timings.gone_after);
    co_return error;
}

void SubscriberLinks::leave(Slot& slot, std::size_t peer, const error_code& error) {
    add(slot.earlier, slot.session->counters());
    slot.confirmed_at = slot.session->confirmed_at();
    slot.link = nullptr;
    slot.session = nullptr;
    slot.state = error == Error::goodbye ? PeerState::withdrawn : PeerState::gone;
    shared_.neighbours.unlinked(peer);
    if (!closed_ && hooks_.left) hooks_.left(peer);
    if (error != asio::error::operation_aborted) shared_.show_view();
}

void SubscriberLinks::note_refusal(const Link& link, std::optional<std::size_t> claimed,
                                   const error_code& error) {
    if (error == asio::error::operation_aborted) return;  // we are stopping
    const auto claims = claimed ? "claims to be " + shared_.neighbours.node(*claimed) : "";
    const auto host = link.remote().substr(0, link.remote().rfind(':'));
    const bool ourselves = error == Error::own_id && shared_.membership.is_open();
    shared_.log.ended("link from " + host, error, claims, Clock::now(), ourselves);
    if (!claimed || slots_[*claimed].link != nullptr) return;
    slots_[*claimed].state = PeerState::refused;
    slots_[*claimed].last_error = reason_of(error);
}

std::uint64_t SubscriberLinks::announcement_bytes(std::size_t peer) const {
    const auto& slot = slots_[peer];
    const auto now = slot.session != nullptr ? slot.session->counters().announcement_bytes : 0;
    return slot.earlier.announcement_bytes + now;
}

void SubscriberLinks::report(std::size_t peer, ClusterStatus::Peer& status) const {
    const auto& slot = slots_[peer];
    auto counters = slot.earlier;
    auto confirmed_at = slot.confirmed_at;
    if (slot.session != nullptr) {
        const auto& replica = slot.session->replica();
        add(counters, slot.session->counters());
        confirmed_at = slot.session->confirmed_at();
        status.epoch = replica.epoch();
        status.generation = replica.generation();
        const auto summary = describe(replica.descriptor());
        status.bits = summary.bits;
        status.hashes = summary.hashes;
        status.objects = slot.session->objects();
    }
    status.state = slot.state;
    if (slot.state == PeerState::in_step) {
        if (!shared_.neighbours.present(peer)) status.state = PeerState::waiting_snapshot;
        if (shared_.neighbours.behind(peer)) status.state = PeerState::behind;
    }
    status.lag_seconds = std::chrono::duration<double>(Clock::now() - confirmed_at).count();
    status.announcements_received += counters.announcements;
    status.snapshots_received += counters.snapshots;
    status.heartbeats_received += counters.heartbeats;
    status.resyncs += counters.resyncs;
    status.check_failures += counters.check_failures;
    status.invalidations_received += counters.invalidations;
    status.bytes_sent += slot.traffic.bytes_sent;
    status.bytes_received += slot.traffic.bytes_received;
    if (!slot.last_error.empty()) status.last_error = slot.last_error;
}

}  // namespace protocol
