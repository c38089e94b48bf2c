#include "measure/simulate/simulation.hpp"

#include <algorithm>
#include <memory>
#include <stdexcept>

#include "measure/simulate/caches.hpp"
#include "measure/simulate/copy_freshness.hpp"
#include "measure/simulate/flights.hpp"
#include "measure/simulate/make_knowledge.hpp"
#include "measure/simulate/make_peer_search.hpp"
#include "measure/simulate/renewals.hpp"
#include "measure/trace/splitmix.hpp"
#include "proxy/fetch/meeting_plan.hpp"
#include "proxy/fetch/peer_request_plan.hpp"

namespace measure {
namespace {

using TimePoint = Knowledge::TimePoint;

constexpr TimePoint kStart{std::chrono::seconds(1000)};
constexpr std::size_t kRequestsBetweenReports = 8192;

class Simulation {
public:
    Simulation(const Trace& trace, const SimulationConfig& config)
        : trace_(trace),
          config_(config),
          objects_(trace, {config.unknown_bytes, config.unit_objects, config.kind, config.seed}),
          caches_(config_, objects_),
          freshness_(config_, caches_.size()),
          lines_(config_.network, config.seed, kStart),
          lately_(caches_.size()),
          meetings_(caches_.size()) {
        to_point_.measured(2 * config_.network.delay);
        origin_fetch_.measured(config_.network.origin);
        homes_.reserve(trace.clients.size());
        for (const auto client : trace.clients) homes_.push_back(proxy_of(client, caches_.size()));
        restarts_ = config_.network.restarts;
        std::stable_sort(restarts_.begin(), restarts_.end(),
                         [](const auto& a, const auto& b) { return a.at > b.at; });
        const KnowledgeInputs shared{config_,    objects_,           caches_.holders(),
                                     freshness_, expected_objects(), kStart};
        knowledge_ = make_knowledge(shared, lines_);
        if (knowledge_) search_ = make_peer_search(shared, *knowledge_, lines_);
        if (knowledge_ && config_.scheme == Scheme::summary && freshness_.ends())
            renewals_.emplace(caches_.size(), objects_, config_.network.delay);
    }

    SimulationCounts run(const std::function<bool(double)>& progress) {
        const auto total = trace_.requests.size();
        const auto warm = static_cast<std::size_t>(config_.warm_up * static_cast<double>(total));
        Knowledge::AnnouncementTotals before;
        for (std::size_t i = 0; i < total; ++i) {
            if (progress && i % kRequestsBetweenReports == 0 &&
                !progress(static_cast<double>(i) / static_cast<double>(total)))
                break;
            restart_until(time_of(i));
            now_ = time_of(i);
            land_until(now_);
            if (knowledge_) knowledge_->advance(now_);
            if (renewals_) renewals_->advance(now_);
            if (i == warm && i > 0) {
                counts_ = {};
                if (knowledge_) before = knowledge_->announced();
            }
            serve(trace_.requests[i]);
        }
        land_until(TimePoint::max());
        if (knowledge_) note_announced(before);
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
            land_until(kStart + at);
            if (knowledge_) knowledge_->advance(kStart + at);
            flights_.drop(proxy);
            freshness_.clear(proxy);
            caches_.clear(proxy);
            lately_[proxy] = proxy::RemoteHits();
            if (!knowledge_) continue;
            knowledge_->restarted(proxy, kStart + at);
            search_->restarted(proxy);
            if (renewals_) renewals_->forget(proxy);
        }
    }

    /// Most objects that any proxy would hold at a time without sharing. Filters of a fixed size
    /// are made for it. Takes a run of its own.
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
            alone.store(home, object, proxy::SentBy::origin, [&](std::uint32_t) { --held[home]; });
            most = std::max(most, ++held[home]);
        }
        return most;
    }

    void note_announced(const Knowledge::AnnouncementTotals& before) {
        const auto announced = knowledge_->announced();
        counts_.announcements = announced.messages - before.messages;
        counts_.announcement_bytes = announced.bytes - before.bytes;
        counts_.snapshots = announced.snapshots - before.snapshots;
        counts_.summary_bytes = knowledge_->summary_bytes();
    }

    /// Stores the fetched objects that arrive by `until`.
    void land_until(TimePoint until) {
        while (const auto flight = flights_.take_ended(until)) {
            if (knowledge_) knowledge_->advance(flight->ends);
            land(*flight);
        }
    }
    void land(const Flights::Flight& flight) {
        const auto [proxy, object] = std::pair(flight.proxy, flight.object);
        if (flight.from_peer && !keeps_copy(flight)) return;
        if (!caches_.has(proxy, object)) {
            if (!caches_.may_hold(object)) return;
            store(flight);
        }
        freshness_.set(proxy, object, flight.copy);
        if (renewals_ && flight.of_origin) tell_peers(flight);
    }
    /// As a node does that stores what the origin has just sent or confirmed.
    void tell_peers(const Flights::Flight& flight) {
        const auto [proxy, object] = std::pair(flight.proxy, flight.object);
        const auto peers = knowledge_->candidates(proxy, object);
        if (peers.empty()) return;
        counts_.renewals_told += peers.size();
        renewals_->tell(proxy, peers, object, flight.copy.version, flight.ends);
    }
    bool keeps_copy(const Flights::Flight& flight) {
        const proxy::RemoteHit hit{objects_.hash(flight.object), flight.renews, flight.awaited,
                                   caches_.has_room(flight.proxy)};
        return proxy::use_of_copy(config_.copy, hit, lately_[flight.proxy]) ==
               proxy::CopyUse::stored;
    }

    void serve(const LoggedRequest& request) {
        const auto object = trace_.urls[request.url].object;
        const auto proxy = homes_[request.client];
        const auto bytes = request.method == kHead ? 0 : objects_.bytes(object);
        const bool gets = request.method == kGet;
        ++counts_.requests;
        counts_.bytes += bytes;
        if (!gets && request.method != kHead) {  // passed on to the origin
            wait(config_.network.origin);
            return;
        }
        if (config_.scheme == Scheme::consistent_hashing)
            return serve_from_home(proxy, object, bytes, gets);
        const bool is_stored = caches_.has(proxy, object);
        if (is_stored && (freshness_.is_fresh(proxy, object, now_) || renew(proxy, object)))
            return hit_locally(proxy, object, bytes);
        if (gets && joins(proxy, object)) return count_local_hit(bytes);
        const auto fetched = fetch(proxy, object, bytes, is_stored);
        wait(fetched.waited);
        if (gets)
            flights_.begin({proxy, object, now_ + fetched.waited, fetched.copy, fetched.from_peer,
                            fetched.of_origin, is_stored, false});
    }
    /// True if a peer has told that the origin confirms this stale copy.
    bool renew(std::size_t proxy, std::uint32_t object) {
        const auto news = news_of(proxy, object);
        const auto copy = freshness_.of(proxy, object);
        if (!news || !Renewals::confirms(*news, copy.version)) return false;
        freshness_.set(proxy, object, freshness_.renewed(copy, news->confirmed));
        if (!freshness_.is_fresh(proxy, object, now_)) return false;
        ++counts_.renewals_taken;
        return true;
    }
    std::optional<proxy::KnownRenewals::Known> news_of(std::size_t proxy,
                                                       std::uint32_t object) const {
        if (!renewals_) return std::nullopt;
        const auto copy = freshness_.of(proxy, object);
        return renewals_->news(proxy, object, freshness_.confirmed(copy));
    }
    /// The peers that `proxy` may ask. With a stale copy of its own only the one that has told of
    /// news, as in a node.
    summary::PeerSet candidates(std::size_t proxy, std::uint32_t object, bool is_stored) const {
        const auto all = knowledge_->candidates(proxy, object);
        if (!is_stored || !renewals_) return all;
        const auto news = news_of(proxy, object);
        return news ? Renewals::teller(*news, all) : summary::PeerSet();
    }

    struct SimulatedFetch {
        bool from_peer = false, of_origin = false;
        CopyFreshness::Copy copy;
        SimulatedLines::Duration waited{0};
    };
    /// Fetches from a peer or the origin, and counts the hit. `is_stored`: here, as a stale copy.
    SimulatedFetch fetch(std::size_t proxy, std::uint32_t object, std::uint64_t bytes,
                         bool is_stored) {
        PeerSearch::Answer answer{{}, {}, config_.network.origin};
        if (knowledge_)
            answer =
                search_->ask(proxy, object, candidates(proxy, object, is_stored), now_, counts_);
        if (answer.from) {
            hit_at_peer(*answer.from, object, bytes);
            return {true, false, freshness_.of(*answer.from, object), answer.waited};
        }
        if (answer.too_far)
            ++counts_.peers_too_far;
        else if (knowledge_ && !is_stored && !answer.stale_at &&
                 caches_.holders().any_but(object, proxy))
            ++counts_.false_misses;
        if (!is_stored && !answer.stale_at) {
            const auto* const other = flights_.of_another(proxy, object, caches_.size());
            if (pays_to_meet(proxy)) {
                if (!is_meeting_point(proxy, object)) answer.waited += lines_.round_trip();
                meetings_[proxy].asked(other != nullptr);
                if (other) return follow(*other, bytes);
            }
            if (other) ++counts_.doubled;
        }
        const auto validates = is_stored || answer.stale_at;
        const auto changed =
            validates && freshness_.has_changed(
                             object, freshness_.of(is_stored ? proxy : *answer.stale_at, object));
        SimulatedFetch fetched{false, true, freshness_.from_origin(object, now_ + answer.waited),
                               answer.waited};
        if (!validates || changed) return fetched;
        ++counts_.validations;
        if (is_stored) {
            caches_.use(proxy, object);
            count_local_hit(bytes);
            return fetched;
        }
        hit_at_peer(*answer.stale_at, object, bytes);
        fetched.from_peer = true;
        fetched.waited += lines_.round_trip();
        return fetched;
    }

    /// Asks who fetches the same, as a node does. The simulated nodes know the times of origin and
    /// meeting point from the start.
    bool pays_to_meet(std::size_t proxy) {
        if (config_.scheme != Scheme::summary || caches_.size() == 1) return false;
        const auto pays =
            proxy::pays_to_meet({config_.fetch_once, to_point_, origin_fetch_}, meetings_[proxy]);
        if (pays) ++counts_.meetings;
        return pays;
    }
    bool is_meeting_point(std::size_t proxy, std::uint32_t object) const {
        return objects_.hash(object).low % caches_.size() == proxy;
    }
    /// Takes the object from the proxy that fetches it, when it has come there.
    SimulatedFetch follow(const Flights::Flight& other, std::uint64_t bytes) {
        ++counts_.followed;
        count_peer_hit(bytes);
        return {true, false, other.copy, other.ends + config_.network.delay - now_};
    }

    /// Returns true if a shared fetch of the object is in progress.
    bool joins(std::size_t proxy, std::uint32_t object) {
        auto* const flight = flights_.find(proxy, object);
        if (flight == nullptr) return false;
        if (flight->from_peer && !flight->renews && config_.copy == proxy::CopyPolicy::never)
            return false;
        flight->awaited = true;
        ++counts_.joined;
        wait(flight->ends - now_);
        return true;
    }

    /// Stores each object at a single proxy, chosen by its key.
    void serve_from_home(std::size_t proxy, std::uint32_t object, std::uint64_t bytes, bool gets) {
        const auto home =
            static_cast<std::size_t>((objects_.hash(object).high >> 32) * config_.proxies >> 32);
        const bool is_stored = caches_.has(home, object);
        const auto hit = [&] {
            home == proxy ? count_local_hit(bytes) : count_peer_hit(bytes);
            if (is_stored) caches_.use(home, object);
        };
        if (home != proxy) {
            ++counts_.peer_requests;
            wait(lines_.round_trip());
        }
        if (is_stored && freshness_.is_fresh(home, object, now_)) return hit();
        if (gets && joins(home, object)) return hit();
        wait(config_.network.origin);
        if (is_stored && !freshness_.has_changed(object, freshness_.of(home, object))) {
            ++counts_.validations;
            hit();
        }
        const auto ends = now_ + config_.network.origin;
        if (gets)
            flights_.begin({home, object, ends, freshness_.from_origin(object, ends), false, true,
                            is_stored, false});
    }

    void hit_locally(std::size_t proxy, std::uint32_t object, std::uint64_t bytes) {
        caches_.use(proxy, object);
        count_local_hit(bytes);
    }
    void hit_at_peer(std::size_t peer, std::uint32_t object, std::uint64_t bytes) {
        caches_.use(peer, object);
        count_peer_hit(bytes);
    }
    void count_local_hit(std::uint64_t bytes) {
        ++counts_.local_hits;
        counts_.local_hit_bytes += bytes;
    }
    void count_peer_hit(std::uint64_t bytes) {
        ++counts_.peer_hits;
        counts_.peer_hit_bytes += bytes;
    }

    void store(const Flights::Flight& flight) {
        const auto [proxy, object, now] = std::tuple(flight.proxy, flight.object, flight.ends);
        const auto sender = flight.from_peer ? proxy::SentBy::peer : proxy::SentBy::origin;
        caches_.store(proxy, object, sender, [&](std::uint32_t victim) {
            ++counts_.evicted;
            freshness_.removed(proxy, victim);
            if (knowledge_) knowledge_->removed(proxy, victim, now);
        });
        ++counts_.stored;
        if (knowledge_) knowledge_->stored(proxy, object, now);
    }

    void wait(SimulatedLines::Duration time) {
        counts_.waited_ms += std::chrono::duration<double, std::milli>(time).count();
    }

    const Trace& trace_;
    const SimulationConfig config_;
    const Objects objects_;
    Caches caches_;
    CopyFreshness freshness_;
    Flights flights_;
    SimulatedLines lines_;
    std::vector<proxy::RemoteHits> lately_;  // of each proxy
    std::vector<proxy::FetchMeetings> meetings_;
    proxy::RoundTrip to_point_, origin_fetch_;
    std::vector<std::size_t> homes_;  // of the clients
    std::unique_ptr<Knowledge> knowledge_;
    std::unique_ptr<PeerSearch> search_;
    std::optional<Renewals> renewals_;  // none: nothing becomes stale, or the scheme has none
    std::vector<SimulatedNetwork::Restart> restarts_;  // to come; the next one last
    TimePoint now_ = kStart;
    SimulationCounts counts_;
};

/// Times are nanoseconds here.
void check_span(const Trace& trace, double requests_per_second) {
    if (trace.requests.empty()) return;
    const double seconds =
        requests_per_second > 0
            ? static_cast<double>(trace.requests.size()) / requests_per_second
            : static_cast<double>(trace.requests.back().time_ms - trace.requests.front().time_ms) /
                  1000;
    if (!(seconds <= std::chrono::duration<double>(kLongestSpan).count()))
        throw std::invalid_argument("the requests span more than a hundred years");
}

}  // namespace

SimulationCounts simulate(const Trace& trace, const SimulationConfig& config,
                          const std::function<bool(double)>& progress) {
    check(config);
    check_span(trace, config.requests_per_second);
    return Simulation(trace, config).run(progress);
}

}  // namespace measure
