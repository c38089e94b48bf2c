#include "measure/simulate/simulation.hpp"

#include <algorithm>
#include <memory>
#include <optional>

#include "measure/simulate/asking.hpp"
#include "measure/simulate/caches.hpp"
#include "measure/simulate/make_sharing.hpp"
#include "measure/trace/splitmix.hpp"
#include "proxy/cache/peer_plan.hpp"

namespace measure {
namespace {

using TimePoint = Sharing::TimePoint;

constexpr TimePoint kStart{std::chrono::seconds(1000)};
constexpr std::size_t kRequestsBetweenReports = 8192;

class Simulation {
public:
    Simulation(const Trace& trace, const SimulationConfig& config)
        : trace_(trace),
          config_(config),
          objects_(trace, {config.unknown_bytes, config.unit_objects, config.kind, config.seed}),
          caches_(config_, objects_),
          lines_(config_.network, config.seed, kStart),
          lately_(caches_.size()) {
        homes_.reserve(trace.clients.size());
        for (const auto client : trace.clients) homes_.push_back(proxy_of(client, caches_.size()));
        restarts_ = config_.network.restarts;
        std::stable_sort(restarts_.begin(), restarts_.end(),
                         [](const auto& a, const auto& b) { return a.at > b.at; });
        const Shared shared{config_, objects_, caches_.holders(), expected_objects(), kStart};
        sharing_ = make_sharing(shared, lines_);
        if (sharing_) asking_ = make_asking(shared, *sharing_, lines_);
    }

    SimulationCounts run(const std::function<bool(double)>& progress) {
        const auto total = trace_.requests.size();
        const auto warm = static_cast<std::size_t>(config_.warm_up * static_cast<double>(total));
        Sharing::Announced before;
        for (std::size_t i = 0; i < total; ++i) {
            if (progress && i % kRequestsBetweenReports == 0 &&
                !progress(static_cast<double>(i) / static_cast<double>(total)))
                break;
            restart_until(time_of(i));
            now_ = time_of(i);
            if (sharing_) sharing_->advance(now_);
            if (i == warm && i > 0) {
                counts_ = {};
                if (sharing_) before = sharing_->announced();
            }
            serve(trace_.requests[i]);
        }
        if (sharing_) note_announced(before);
        return counts_;
    }

private:
    TimePoint time_of(std::size_t request) const {
        if (config_.requests_per_second > 0)
            return kStart + std::chrono::nanoseconds(static_cast<std::int64_t>(
                                1e9 * static_cast<double>(request) / config_.requests_per_second));
        return kStart + std::chrono::milliseconds(trace_.requests[request].time_ms -
                                                  trace_.requests.front().time_ms);
    }

    void restart_until(TimePoint now) {
        for (; !restarts_.empty() && kStart + restarts_.back().at <= now; restarts_.pop_back()) {
            const auto& [at, proxy] = restarts_.back();
            if (sharing_) sharing_->advance(kStart + at);
            caches_.clear(proxy);
            lately_[proxy] = proxy::RemoteHits();
            if (!sharing_) continue;
            sharing_->restarted(proxy, kStart + at);
            asking_->restarted(proxy);
        }
    }

    /// Most that any proxy would have at a time if none shared: what filters of a fixed size are
    /// made for. Takes a run of its own.
    std::uint64_t expected_objects() const {
        if (config_.scheme != Scheme::paper_bloom && config_.scheme != Scheme::squid_digest)
            return 0;
        Caches alone(config_, objects_);
        std::vector<std::uint64_t> held(alone.size());
        std::uint64_t most = 1;
        for (const auto& request : trace_.requests) {
            const auto object = trace_.urls[request.url].object;
            const auto home = homes_[request.client];
            if (request.method != kGet || !alone.may_hold(object)) continue;
            if (alone.has(home, object)) {
                alone.use(home, object);
                continue;
            }
            alone.store(home, object, [&](std::uint32_t) { --held[home]; });
            most = std::max(most, ++held[home]);
        }
        return most;
    }

    void note_announced(const Sharing::Announced& before) {
        const auto announced = sharing_->announced();
        counts_.announcements = announced.messages - before.messages;
        counts_.announcement_bytes = announced.bytes - before.bytes;
        counts_.snapshots = announced.snapshots - before.snapshots;
        counts_.summary_bytes = sharing_->summary_bytes();
    }

    void serve(const Request& request) {
        const auto object = trace_.urls[request.url].object;
        const auto proxy = homes_[request.client];
        const auto bytes = request.method == kHead ? 0 : objects_.bytes(object);
        const bool gets = request.method == kGet;
        ++counts_.requests;
        counts_.bytes += bytes;
        if (!gets && request.method != kHead) {  // passed on to the origin
            counts_.waited_ms += origin_ms();
            return;
        }
        if (config_.scheme == Scheme::consistent_hashing)
            return serve_from_home(proxy, object, bytes, gets);
        if (caches_.has(proxy, object)) return hit_locally(proxy, object, bytes);
        const bool from_peer = sharing_ && ask_peers(proxy, object, bytes);
        if (!sharing_) counts_.waited_ms += origin_ms();
        if (gets && (!from_peer || keeps_copy(proxy, object))) store(proxy, object);
    }

    /// Each object is stored at one proxy alone, whose place follows from its key.
    void serve_from_home(std::size_t proxy, std::uint32_t object, std::uint64_t bytes, bool gets) {
        const auto home =
            static_cast<std::size_t>((objects_.hash(object).high >> 32) * config_.proxies >> 32);
        const bool held = caches_.has(home, object);
        if (home != proxy) {
            ++counts_.questions;
            counts_.waited_ms += as_ms(lines_.round_trip());
        }
        if (held && home == proxy) return hit_locally(proxy, object, bytes);
        if (held) {
            caches_.use(home, object);
            ++counts_.peer_hits;
            counts_.peer_hit_bytes += bytes;
            return;
        }
        counts_.waited_ms += origin_ms();
        if (gets) store(home, object);
    }

    void hit_locally(std::size_t proxy, std::uint32_t object, std::uint64_t bytes) {
        caches_.use(proxy, object);
        ++counts_.local_hits;
        counts_.local_hit_bytes += bytes;
    }

    /// True when one had it.
    bool ask_peers(std::size_t proxy, std::uint32_t object, std::uint64_t bytes) {
        const auto answer =
            asking_->ask(proxy, object, sharing_->candidates(proxy, object), now_, counts_);
        counts_.waited_ms += answer.waited_ms;
        if (!answer.from) {
            if (caches_.holders().any_but(object, proxy)) ++counts_.false_misses;
            return false;
        }
        caches_.use(*answer.from, object);
        ++counts_.peer_hits;
        counts_.peer_hit_bytes += bytes;
        return true;
    }

    bool keeps_copy(std::size_t proxy, std::uint32_t object) {
        return proxy::use_of_copy(config_.copy, {objects_.hash(object)}, lately_[proxy]) ==
               proxy::CopyUse::stored;
    }

    void store(std::size_t proxy, std::uint32_t object) {
        if (!caches_.may_hold(object)) return;
        caches_.store(proxy, object, [&](std::uint32_t victim) {
            ++counts_.evicted;
            if (sharing_) sharing_->removed(proxy, victim, now_);
        });
        ++counts_.stored;
        if (sharing_) sharing_->stored(proxy, object, now_);
    }

    static double as_ms(SimulatedLines::Duration time) {
        return std::chrono::duration<double, std::milli>(time).count();
    }
    double origin_ms() const { return static_cast<double>(config_.network.origin.count()); }

    const Trace& trace_;
    const SimulationConfig config_;
    const Objects objects_;
    Caches caches_;
    SimulatedLines lines_;
    std::vector<proxy::RemoteHits> lately_;  // of each proxy
    std::vector<std::size_t> homes_;         // of the clients
    std::unique_ptr<Sharing> sharing_;
    std::unique_ptr<Asking> asking_;
    std::vector<SimulatedNetwork::Restart> restarts_;  // that are to come, the next one last
    TimePoint now_ = kStart;
    SimulationCounts counts_;
};

}  // namespace

SimulationCounts simulate(const Trace& trace, const SimulationConfig& config,
                          const std::function<bool(double)>& progress) {
    check(config);
    return Simulation(trace, config).run(progress);
}

}  // namespace measure
