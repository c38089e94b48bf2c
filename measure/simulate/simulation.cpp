#include "measure/simulate/simulation.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <stdexcept>

#include "measure/simulate/eviction_order.hpp"
#include "measure/simulate/holders.hpp"
#include "measure/simulate/objects.hpp"
#include "measure/simulate/sharing.hpp"
#include "measure/trace/splitmix.hpp"

namespace measure {
namespace {

using TimePoint = Sharing::TimePoint;

constexpr TimePoint kStart{std::chrono::seconds(1000)};
constexpr std::size_t kRequestsBetweenReports = 8192;
/// One part in so many of a cache is the most that one object may take, as in a proxy.
constexpr std::uint64_t kLargestShare = 2;

Objects::Options options_of(const SimulationConfig& config) {
    return {config.unknown_bytes, config.unit_objects, config.kind, config.seed};
}

/// Throws for numbers that make no sense.
const SimulationConfig& checked(const SimulationConfig& config) {
    const auto refuse = [](const char* why) { throw std::invalid_argument(why); };
    if (config.proxies < 1 || config.proxies > summary::kMaxPeers)
        refuse("a simulation is of 1 to 1024 proxies");
    if (!(config.warm_up >= 0 && config.warm_up < 1))
        refuse("the warm-up must be a part of the requests, below 1");
    if (!(config.requests_per_second >= 0)) refuse("requests per second must not be negative");
    return config;
}

class Simulation {
public:
    Simulation(const Trace& trace, const SimulationConfig& config)
        : trace_(trace),
          config_(checked(config)),
          caches_(config.scheme == Scheme::single_cache ? 1 : config.proxies),
          objects_(trace, options_of(config)),
          holders_(objects_.size(), caches_),
          used_(caches_),
          capacity_(config.cache_bytes * (caches_ == 1 ? config.proxies : 1)),
          sharing_(make_sharing(config_, objects_, holders_, kStart)) {
        if (capacity_ > 0) {
            for (std::size_t i = 0; i < caches_; ++i)
                orders_.push_back(make_eviction_order(config.replacement, objects_, holders_, i));
        }
        homes_.reserve(trace.clients.size());
        for (const auto client : trace.clients) homes_.push_back(proxy_of(client, caches_));
    }

    SimulationCounts run(const std::function<bool(double)>& progress) {
        const auto total = trace_.requests.size();
        const auto warm = static_cast<std::size_t>(config_.warm_up * static_cast<double>(total));
        for (std::size_t i = 0; i < total; ++i) {
            if (i == warm) counts_ = {};
            if (progress && i % kRequestsBetweenReports == 0 &&
                !progress(static_cast<double>(i) / static_cast<double>(total)))
                break;
            now_ = time_of(i);
            if (sharing_) sharing_->advance(now_);
            serve(trace_.requests[i]);
        }
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

    void serve(const Request& request) {
        const auto object = trace_.urls[request.url].object;
        const auto proxy = homes_[request.client];
        const auto bytes = request.method == kHead ? 0 : objects_.bytes(object);
        const bool can_hit = request.method == kGet || request.method == kHead;
        ++counts_.requests;
        counts_.bytes += bytes;
        if (can_hit && holders_.has(object, proxy)) {
            use(proxy, object);
            ++counts_.local_hits;
            counts_.local_hit_bytes += bytes;
            return;
        }
        counts_.waited_ms += static_cast<double>(config_.network.origin.count());
        if (request.method == kGet) store(proxy, object);
    }

    void use(std::size_t proxy, std::uint32_t object) {
        if (!orders_.empty()) orders_[proxy]->touch(object);
    }

    void store(std::size_t proxy, std::uint32_t object) {
        if (config_.object_max > 0 && objects_.bytes(object) > config_.object_max) return;
        if (capacity_ > 0 && !make_room(proxy, objects_.charged(object))) return;
        holders_.add(object, proxy);
        ++counts_.stored;
        if (!orders_.empty()) orders_[proxy]->insert(object);
        if (sharing_) sharing_->stored(proxy, object, now_);
    }

    bool make_room(std::size_t proxy, std::uint64_t bytes) {
        if (bytes > capacity_ / (config_.unit_objects ? 1 : kLargestShare)) return false;
        auto& used = used_[proxy];
        while (used + bytes > capacity_) {
            const auto victim = orders_[proxy]->pop();
            used -= objects_.charged(victim);
            holders_.remove(victim, proxy);
            ++counts_.evicted;
            if (sharing_) sharing_->removed(proxy, victim, now_);
        }
        used += bytes;
        return true;
    }

    const Trace& trace_;
    const SimulationConfig& config_;
    const std::size_t caches_;
    const Objects objects_;
    Holders holders_;
    std::vector<std::unique_ptr<EvictionOrder>> orders_;  // none without a limit
    std::vector<std::uint64_t> used_;                     // bytes of each cache
    const std::uint64_t capacity_;                        // of each; 0: without limit
    const std::unique_ptr<Sharing> sharing_;
    std::vector<std::size_t> homes_;  // of the clients
    TimePoint now_ = kStart;
    SimulationCounts counts_;
};

}  // namespace

SimulationCounts simulate(const Trace& trace, const SimulationConfig& config,
                          const std::function<bool(double)>& progress) {
    return Simulation(trace, config).run(progress);
}

}  // namespace measure
