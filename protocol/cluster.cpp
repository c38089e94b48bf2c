#include "protocol/cluster.hpp"

#include <spdlog/spdlog.h>

#include <boost/asio/post.hpp>
#include <cassert>
#include <new>
#include <stdexcept>
#include <utility>

#include "protocol/wire/heartbeat.hpp"
#include "summary/coding/judge.hpp"

namespace protocol {
namespace {

namespace asio = boost::asio;

/// The configuration without the entry for this node itself, if it lists one. Throws
/// std::invalid_argument.
PeeringConfig checked(PeeringConfig config) {
    if (const auto bad = faults(config); !bad.empty())
        throw std::invalid_argument("cluster: " + std::string(bad.front().setting) + ' ' +
                                    bad.front().why);
    std::erase_if(config.peers, [&](const auto& peer) { return peer.node == config.node; });
    return config;
}

HashSecret choose_hash_secret(const ClusterSecurity& security) {
    if (!security.keys.empty()) return hash_secret(security.keys.back());
    if (security.own_secret) return *security.own_secret;
    HashSecret secret;
    base::random_bytes(secret);
    return secret;
}

}  // namespace

Cluster::Cluster(asio::io_context& control, PeeringConfig config, ClusterHooks hooks)
    : peering_(control.get_executor(), checked(std::move(config)), std::move(hooks)),
      hasher_(choose_hash_secret(peering_.config.security)),
      links_(peering_),
      announcement_(peering_.executor) {}

void Cluster::start() {
    const auto listens = peering_.config.listen && !peering_.config.security.keys.empty();
    if (listens) links_.bind();
    links_.configure();
    // Found peers come later.
    if (peering_.config.dns_peers.empty()) peering_.invalidations.forget_all_confirmed();
    run(listens);
}

void Cluster::start_in_place_of(Cluster& earlier) {
    const auto listens = links_.bind_in_place_of(earlier.links_);
    earlier.stop();
    peering_.self.instance = earlier.peering_.self.instance;
    peering_.publisher.take_over(earlier.peering_.publisher);
    provided_for_ = earlier.provided_for_;
    error_control_ = earlier.error_control_;
    judged_ = earlier.judged_;
    links_.take_over(earlier.links_);
    links_.configure();
    provide_for_peers(true);
    send_invalidations();
    run(listens);
}

void Cluster::run(bool listens) {
    peering_.owner = weak_from_this();
    peering_.plan_work = [this] { plan_work(); };
    plan_work();  // work of an earlier cluster goes on
    links_.run(listens);
    peering_.tasks.spawn(tend(shared_from_this()));
}

void Cluster::set_peers(std::vector<PeerConfig> listed, std::vector<DnsPeers> names) {
    auto config = peering_.config;
    config.peers = std::move(listed);
    config.dns_peers = std::move(names);
    peering_.config = checked(std::move(config));
    links_.configure();
    links_.look_now();
    provide_for_peers();
}

void Cluster::stop() {
    if (std::exchange(stopped_, true)) return;
    links_.stop();
    announcement_.cancel();
    peering_.wake_waiting();
    peering_.tasks.cancel();
    peering_.hooks = {};
    peering_.plan_work = nullptr;
}

base::awaitable<void> Cluster::tend(std::shared_ptr<Cluster> self) {
    asio::steady_timer timer(self->peering_.executor);
    for (;;) {
        // The turn of the heartbeats, which take a check-hash along.
        timer.expires_at(next_beat(base::Clock::now(), self->peering_.config.timings.heartbeat));
        const auto [error] = co_await timer.async_wait(base::as_result);
        // The timer may have expired just before the end.
        if (error || self->stopped_) co_return;
        self->tend_now();
    }
}

/// Work that found too little memory waits for the next heartbeat.
void Cluster::tend_now() {
    try {
        links_.tidy();
        provide_for_peers();
        plan_work();
        plan_announcement();
        if (const auto due = peering_.publisher.check(base::Clock::now()))
            for (auto* const end : peering_.subscribers) end->take_along(*due);
    } catch (const std::bad_alloc&) {
        spdlog::error("no memory for the links to peers; the next heartbeat tries again");
    }
}

void Cluster::stored(summary::KeyHash entry) {
    peering_.publisher.stored(entry, base::Clock::now());
    plan_announcement();
}

void Cluster::removed(summary::KeyHash entry) {
    peering_.publisher.removed(entry, base::Clock::now());
    plan_announcement();
}

/// Changes that arrive in one turn of the event loop are announced together.
void Cluster::plan_announcement() {
    if (announcing_ || stopped_) return;
    const auto due = peering_.publisher.announce_due();
    if (!due) return;
    if (*due <= base::Clock::now()) {
        announcing_ = true;
        soon(&Cluster::announce);
    } else if (!std::exchange(announcement_runs_, true)) {
        announcement_.expires_at(*due);
        announcement_.async_wait([this, weak = weak_from_this()](const auto& error) {
            const auto still = weak.lock();
            if (!still) return;
            announcement_runs_ = false;
            if (!error) plan_announcement();
        });
    }
}

void Cluster::announce() {
    announcing_ = false;
    if (stopped_) return;
    try {
        const auto announcement = peering_.publisher.announce(base::Clock::now());
        if (announcement)
            for (auto* const end : peering_.subscribers) end->offer(*announcement);
    } catch (const std::bad_alloc&) {
        return out_of_memory("announcement of changes");
    }
    plan_work();
    plan_announcement();
}

void Cluster::end_import() {
    peering_.publisher.end_import();
    plan_work();
}

void Cluster::plan_work() {
    if (working_ || stopped_) return;
    if (!peering_.publisher.busy() && !peering_.neighbours.busy()) return;
    working_ = true;
    soon(&Cluster::work);
}

void Cluster::work() {
    working_ = false;
    if (stopped_) return;
    try {
        const bool made_image = peering_.publisher.makes_image();
        const auto news = peering_.publisher.work();
        if (news)
            for (auto* const end : peering_.subscribers) end->offer(*news);
        if (made_image && !peering_.publisher.makes_image())
            for (auto* const end : peering_.subscribers) end->wake();
        peering_.neighbours.work();
    } catch (const std::bad_alloc&) {
        return out_of_memory("work on summaries");
    }
    peering_.show_view();
    plan_work();
}

/// A peer that missed an announcement by it sees a gap, and requests a snapshot.
void Cluster::out_of_memory(std::string_view what) {
    peering_.log.ended(what, make_error_code(Error::out_of_memory), "goes on at the next heartbeat",
                       base::Clock::now());
}

void Cluster::soon(void (Cluster::*step)()) {
    asio::post(peering_.executor, [this, step, weak = weak_from_this()] {
        if (const auto still = weak.lock()) (this->*step)();
    });
}

void Cluster::provide_for_peers(bool anew) {
    const auto& config = peering_.config;
    const bool open = !config.dns_peers.empty();
    const auto peers = peers_provided_for(
        open, open ? peering_.membership.size() : config.peers.size(), provided_for_);
    if (std::exchange(provided_for_, peers) == peers && !anew) return;
    peering_.publisher.set_error(error_control_.error(config.summary.false_hit_budget, peers));
    plan_work();
}

void Cluster::note_false_hits(const summary::FalseHitsSeen& in_all) {
    using Judgement = summary::ErrorControl::Judgement;
    const summary::FalseHitsSeen seen{in_all.misses - judged_.misses,
                                      in_all.collisions - judged_.collisions};
    const auto verdict = error_control_.judge(peering_.config.summary.false_hit_budget, seen);
    if (verdict == Judgement::too_early) return;
    judged_ = in_all;
    if (verdict == Judgement::corrected) provide_for_peers(true);
}

InvalidationBacklog Cluster::kept_invalidations() const {
    auto all = peering_.invalidations.kept();
    all.confirmed = links_.confirmed();
    return all;
}

std::uint64_t Cluster::invalidate(const Invalidation& what) {
    const auto number = peering_.invalidations.add(what);
    send_invalidations();
    peering_.show_view();
    return number;
}

void Cluster::send_invalidations() {
    for (const auto& [contact, dialer] : peering_.peer_dialers) dialer->invalidated();
}

bool Cluster::is_linked(std::size_t peer) const {
    const auto* const dialer = peering_.dialer_to(peer);
    return dialer != nullptr && dialer->up();
}

void Cluster::tell(const Renewal& renewal, base::Clock::time_point at,
                   const summary::PeerSet& peers) {
    for (auto* const end : peering_.subscribers) end->tell(renewal, at, peers);
}

std::vector<Cluster::Confirmation> Cluster::confirmations(std::uint64_t number) const {
    std::vector<Confirmation> result;
    const auto& peers = peering_.membership.peers();
    for (std::size_t i = 0; i < peers.size(); ++i) {
        if (peers[i].node.empty()) continue;
        const bool is_confirmed = peering_.invalidations.confirmed(i) >= number;
        result.push_back({peers[i].node, is_confirmed, is_linked(i)});
    }
    return result;
}

bool Cluster::confirmed(std::uint64_t number, Whom by) const {
    const auto& peers = peering_.membership.peers();
    for (std::size_t i = 0; i < peers.size(); ++i) {
        if (peers[i].node.empty()) continue;
        const bool asked = by == Whom::all || is_linked(i);
        if (asked && peering_.invalidations.confirmed(i) < number) return false;
    }
    return true;
}

/// Checks `is_true` again whenever a peer has confirmed an invalidation or a link has ended.
base::awaitable<void> Cluster::wait_for(std::shared_ptr<Cluster> self,
                                        base::Clock::time_point deadline,
                                        std::function<bool()> is_true) {
    asio::steady_timer timer(self->peering_.executor);
    const auto leave = [&](const void*) { std::erase(self->peering_.waiting, &timer); };
    const std::unique_ptr<const void, decltype(leave)> at_end(&timer, leave);
    self->peering_.waiting.push_back(&timer);
    while (!self->stopped_ && !is_true() && base::Clock::now() < deadline) {
        timer.expires_at(deadline);
        co_await timer.async_wait(base::as_result);
    }
}

base::awaitable<void> Cluster::wait_confirmed(std::uint64_t number,
                                              base::Clock::time_point deadline, Whom whom) {
    return wait_for(shared_from_this(), deadline,
                    [this, number, whom] { return confirmed(number, whom); });
}

base::awaitable<void> Cluster::wait_withdrawn(base::Clock::time_point deadline) {
    return wait_for(shared_from_this(), deadline, [this] { return peering_.subscribers.empty(); });
}

void Cluster::report(Bytes bytes) {
    assert(!bytes.empty() && bytes.size() <= kMaxReportBytes - kReportClockBytes);
    auto& report = peering_.report;
    report = {report.number + 1, std::make_shared<const Bytes>(std::move(bytes))};
    peering_.stamp_report();
}

ClusterStatus Cluster::status() const {
    ClusterStatus status;
    links_.add_to(status);
    status.refusals = peering_.log.counts();
    const auto& own = peering_.publisher.own();
    status.own.epoch = own.epoch();
    status.own.generation = own.generation();
    status.own.objects = own.objects();
    const auto summary = describe(own.descriptor());
    status.own.kind = summary.kind;
    status.own.bits = summary.bits;
    status.own.hashes = summary.hashes;
    status.own.fill_ratio = own.fill_ratio();
    status.own.expected_false_hit = own.expected_false_hit();
    return status;
}

}  // namespace protocol
