#include "protocol/cluster.hpp"

#include <spdlog/spdlog.h>

#include <boost/asio/steady_timer.hpp>
#include <cassert>
#include <functional>
#include <new>
#include <stdexcept>
#include <utility>

#include "protocol/announcer.hpp"
#include "protocol/links/link_context.hpp"
#include "protocol/links/peer_links.hpp"
#include "protocol/net/task_group.hpp"
#include "summary/judge.hpp"

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

HashSecret choose_hash_secret(const PeeringConfig& config) {
    if (!config.keys.empty()) return hash_secret(config.keys.back());
    if (config.own_secret) return *config.own_secret;
    HashSecret secret;
    random_bytes(secret);
    return secret;
}

}  // namespace

/// Wires the parts of a node's cluster side, and does the work that concerns all of them: start,
/// replacement, end, and waiting for peers.
class Cluster::Impl : public std::enable_shared_from_this<Cluster::Impl> {
public:
    Impl(asio::io_context& control, PeeringConfig config, ClusterHooks hooks)
        : context_(control.get_executor(), checked(std::move(config)), std::move(hooks)),
          hasher_(choose_hash_secret(context_.config)),
          links_(context_, [this] { wake_waiting(); }),
          announcer_(context_, links_),
          tasks_(context_.executor) {}

    void start() {
        const auto listens = context_.config.listen && !context_.config.keys.empty();
        if (listens) links_.bind();
        links_.configure();
        // Found peers come later.
        if (context_.config.dns_peers.empty()) context_.invalidations.forget_all_confirmed();
        run(listens);
    }

    void go_on_from(const KeptInvalidations& earlier) { links_.go_on_from(earlier); }

    KeptInvalidations kept() const {
        auto all = context_.invalidations.kept();
        all.confirmed = links_.confirmed();
        return all;
    }

    void start_in_place_of(Impl& earlier) {
        const auto listens = links_.bind_in_place_of(earlier.links_);
        earlier.stop();
        context_.self.instance = earlier.context_.self.instance;
        announcer_.take_over(earlier.announcer_);
        links_.take_over(earlier.links_);
        links_.configure();
        announcer_.provide_for_peers(true);
        links_.invalidated();
        run(listens);
    }

    void set_peers(std::vector<PeerConfig> listed, std::vector<DnsPeers> names) {
        auto config = context_.config;
        config.peers = std::move(listed);
        config.dns_peers = std::move(names);
        context_.config = checked(std::move(config));
        links_.configure();
        links_.look_now();
        announcer_.provide_for_peers();
    }

    void stop() {
        if (std::exchange(stopped_, true)) return;
        links_.stop();
        announcer_.stop();
        wake_waiting();
        tasks_.cancel();
        context_.hooks = {};
        context_.plan_work = nullptr;
    }

    std::uint64_t invalidate(const Invalidation& what) {
        const auto number = context_.invalidations.add(what.keys, what.tags);
        links_.invalidated();
        context_.show_view();
        return number;
    }

    std::uint64_t last_invalidation() const { return context_.invalidations.last(); }

    std::vector<Confirmation> confirmations(std::uint64_t number) const {
        std::vector<Confirmation> result;
        const auto& peers = context_.membership.peers();
        for (std::size_t i = 0; i < peers.size(); ++i) {
            if (peers[i].node.empty()) continue;
            const bool confirmed = context_.invalidations.confirmed(i) >= number;
            result.push_back({peers[i].node, confirmed, links_.up(i)});
        }
        return result;
    }

    bool confirmed(std::uint64_t number, Whom by) const {
        const auto& peers = context_.membership.peers();
        for (std::size_t i = 0; i < peers.size(); ++i) {
            if (peers[i].node.empty()) continue;
            const bool asked = by == Whom::all || links_.up(i);
            if (asked && context_.invalidations.confirmed(i) < number) return false;
        }
        return true;
    }

    /// Checks `is_true` again whenever a peer has confirmed an invalidation or a link has ended.
    static awaitable<void> wait_for(std::shared_ptr<Impl> self, Clock::time_point deadline,
                                    std::function<bool()> is_true) {
        asio::steady_timer timer(self->context_.executor);
        const auto leave = [&](const void*) { std::erase(self->waiting_, &timer); };
        const std::unique_ptr<const void, decltype(leave)> at_end(&timer, leave);
        self->waiting_.push_back(&timer);
        while (!self->stopped_ && !is_true() && Clock::now() < deadline) {
            timer.expires_at(deadline);
            co_await timer.async_wait(as_result);
        }
    }

    void report(Bytes bytes) {
        assert(!bytes.empty() && bytes.size() <= kMaxReportBytes);
        auto& report = context_.report;
        report = {report.number + 1, std::make_shared<const Bytes>(std::move(bytes))};
    }

    ClusterStatus status() const;
    PeerLinks& links() { return links_; }
    const PeerLinks& links() const { return links_; }
    Announcer& announcer() { return announcer_; }
    const summary::KeyHasher& hasher() const { return hasher_; }

private:
    void run(bool listens) {
        context_.plan_work = [this] { announcer_.plan_work(); };
        announcer_.plan_work();  // work of an earlier cluster goes on
        links_.run(tasks_, shared_from_this(), listens);
        tasks_.spawn(tend(shared_from_this()));
    }

    void wake_waiting() {
        for (auto* timer : waiting_) timer->cancel();
    }

    static awaitable<void> tend(std::shared_ptr<Impl> self) {
        asio::steady_timer timer(self->context_.executor);
        for (;;) {
            timer.expires_after(self->context_.config.timings.heartbeat);
            const auto [error] = co_await timer.async_wait(as_result);
            // The timer may have expired just before the end.
            if (error || self->stopped_) co_return;
            self->tend_now();
        }
    }

    /// Work that found too little memory waits for the next heartbeat.
    void tend_now() {
        try {
            links_.tidy();
            announcer_.provide_for_peers();
            announcer_.tend();
        } catch (const std::bad_alloc&) {
            spdlog::error("no memory for the links to peers; the next heartbeat tries again");
        }
    }

    LinkContext context_;
    summary::KeyHasher hasher_;
    PeerLinks links_;
    Announcer announcer_;
    TaskGroup tasks_;
    std::vector<asio::steady_timer*> waiting_;  // in wait_for()
    bool stopped_ = false;
};

ClusterStatus Cluster::Impl::status() const {
    ClusterStatus status;
    links_.report(status);
    status.refusals = context_.log.counts();
    const auto& own = context_.publisher.own();
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

Cluster::Cluster(asio::io_context& control, PeeringConfig config, ClusterHooks hooks)
    : impl_(std::make_shared<Impl>(control, std::move(config), std::move(hooks))) {}

Cluster::~Cluster() {
    stop();
}

void Cluster::start() {
    impl_->start();
}
void Cluster::go_on_from(const KeptInvalidations& earlier) {
    impl_->go_on_from(earlier);
}
KeptInvalidations Cluster::kept_invalidations() const {
    return impl_->kept();
}
KeptInvalidations::ConfirmedByNode Cluster::confirmed_by_node() const {
    return std::as_const(*impl_).links().confirmed();
}
void Cluster::start_in_place_of(Cluster& earlier) {
    impl_->start_in_place_of(*earlier.impl_);
}
void Cluster::set_peers(std::vector<PeerConfig> listed, std::vector<DnsPeers> names) {
    impl_->set_peers(std::move(listed), std::move(names));
}
void Cluster::begin_import() {
    impl_->announcer().begin_import();
}
void Cluster::end_import() {
    impl_->announcer().end_import();
}
std::uint16_t Cluster::link_port() const {
    return impl_->links().port();
}
summary::KeyHasher Cluster::key_hasher() const {
    return impl_->hasher();
}
void Cluster::stored(summary::KeyHash entry) {
    impl_->announcer().stored(entry);
}
void Cluster::removed(summary::KeyHash entry) {
    impl_->announcer().removed(entry);
}
void Cluster::note_false_hits(const summary::FalseHitsSeen& in_all) {
    impl_->announcer().note_false_hits(in_all);
}
std::uint64_t Cluster::invalidate(const Invalidation& what) {
    return impl_->invalidate(what);
}
std::uint64_t Cluster::last_invalidation() const {
    return impl_->last_invalidation();
}
std::vector<Cluster::Confirmation> Cluster::confirmations(std::uint64_t number) const {
    return impl_->confirmations(number);
}
awaitable<void> Cluster::wait_confirmed(std::uint64_t number, Clock::time_point deadline,
                                        Whom whom) {
    return Impl::wait_for(impl_, deadline,
                          [&impl = *impl_, number, whom] { return impl.confirmed(number, whom); });
}
void Cluster::withdraw() {
    impl_->links().say_goodbye();
}
awaitable<void> Cluster::wait_withdrawn(Clock::time_point deadline) {
    return Impl::wait_for(impl_, deadline, [&impl = *impl_] { return !impl.links().any_up(); });
}
void Cluster::stop() {
    impl_->stop();
}
ClusterStatus Cluster::status() const {
    return impl_->status();
}
void Cluster::report(Bytes bytes) {
    impl_->report(std::move(bytes));
}
std::vector<ReceivedReport> Cluster::received_reports() const {
    return std::as_const(*impl_).links().received_reports();
}

}  // namespace protocol
