#include "measure/simulate/node_search.hpp"

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "protocol/membership/peer_view.hpp"
#include "proxy/fetch/peer_request_plan.hpp"
#include "proxy/upstream/miss_samples.hpp"
#include "summary/sizing/error_control.hpp"

namespace measure {
namespace {

using TimePoint = Knowledge::TimePoint;
using Duration = SimulatedLines::Duration;

/// The interval at which a node judges its false hits.
constexpr std::chrono::seconds kBetweenJudgements{5};
/// Bytes of a peer request and its refusal without the URI, measured with a client that sends five
/// fields.
constexpr std::uint64_t kVainBytes = 598;

/// A peer request in progress.
struct OpenRequest {
    proxy::PeerTurn turn;
    bool reaches = false;
    Duration takes{};  // until its answer
    TimePoint ends;
};

class NodeSearch final : public PeerSearch {
public:
    NodeSearch(const KnowledgeInputs& shared, Knowledge& knowledge, SimulatedLines& lines)
        : shared_(shared),
          knowledge_(knowledge),
          lines_(lines),
          proxies_(shared.config.proxies),
          records_(proxies_ * proxies_) {
        peers_.resize(proxies_);
        for (std::size_t i = 0; i < proxies_; ++i) {
            protocol::PeerView::Peer peer;
            peer.node = peer.http.host = peer.token = "simulated";
            peer.in_sync = peer.has_feed = true;
            peers_.set(i, std::move(peer));
            nodes_.emplace_back(shared.config.seed + i);
        }
        for (unsigned i = 0; i < proxy::RoundTrip::kWellKnownAfter; ++i)
            origin_.measured(shared.config.network.origin);
    }

    Answer ask(std::size_t proxy, std::uint32_t object, const summary::PeerSet& candidates,
               TimePoint now, SimulationCounts& counts) override {
        auto& node = nodes_[proxy];
        ++node.seen.misses;
        const auto records = of(proxy);
        const auto whom = proxy::whom_to_ask(
            candidates, {}, std::nullopt, {peers_, records, bounds_, origin_, now, node.denying});
        if (whom.count > 0 && candidates.empty()) ++counts.overruled;
        if (whom.beside_the_origin) records[whom.turns[0].peer].measure_from(now);
        auto answer = whom.count == 0 ? Answer{{}, {}, shared_.config.network.origin}
                                      : race(proxy, object, whom, now, counts);
        answer.too_far = whom.too_far;
        if (!answer.from) sample(proxy, object, candidates, now, counts);
        correct(proxy, now);
        return answer;
    }

    void restarted(std::size_t proxy) override {
        const auto known = of(proxy);
        std::fill(known.begin(), known.end(), proxy::PeerRecord());
        nodes_[proxy] = Node(shared_.config.seed + proxy);
    }

private:
    struct Node {
        explicit Node(std::uint64_t seed) : samples(seed) {}
        proxy::MissSamples samples;
        summary::PeerSet denying;  // known to hold objects that their summaries deny
        summary::ErrorControl control;
        summary::FalseHitsSeen seen;  // since the last judgement
        TimePoint judged{};
    };

    std::span<proxy::PeerRecord> of(std::size_t proxy) {
        return std::span(records_).subspan(proxy * proxies_, proxies_);
    }
    bool has(std::size_t peer, std::uint32_t object) const {
        return shared_.holders.has(object, peer);
    }

    /// Runs the production order of peer requests. Each moment at which a request ends or is due is
    /// one step.
    Answer race(std::size_t proxy, std::uint32_t object, const proxy::PeerTurns& whom,
                TimePoint begin, SimulationCounts& counts) {
        const auto records = of(proxy);
        proxy::PeerRequestPlan plan(whom, records[whom.turns[0].peer].round_trip(), origin_,
                                    bounds_, true, begin);
        open_.clear();
        Answer answer;
        auto origin_ends = TimePoint::max();
        const auto origin_is_asked = [&] { return origin_ends != TimePoint::max(); };
        const auto from_origin = [&] {
            for (const auto& each : open_) end(proxy, object, each, false, answer, counts);
            answer.waited = origin_ends - begin;
            return answer;
        };
        for (auto now = begin;;) {
            const auto still_open = static_cast<unsigned>(open_.size());
            const auto next = plan.next({still_open, origin_is_asked(), false}, now);
            switch (next.step) {
                case proxy::AskStep::ask_peer: {
                    const auto asked = plan.ask(still_open);
                    auto& record = records[asked.turn.peer];
                    record.asked();
                    ++counts.peer_requests;
                    open_.push_back(open_request(proxy, asked.turn, plan.latest(), now));
                    plan.asked(record.round_trip(), now);
                    continue;
                }
                case proxy::AskStep::ask_origin:
                    ++counts.origin_beside;
                    origin_ends = now + shared_.config.network.origin;
                    continue;
                case proxy::AskStep::no_peers:
                    origin_ends = now + shared_.config.network.origin;
                    return from_origin();
                case proxy::AskStep::wait:
                    break;
            }
            const auto first =
                std::min_element(open_.begin(), open_.end(),
                                 [](const auto& a, const auto& b) { return a.ends < b.ends; });
            const auto ends = first == open_.end() ? TimePoint::max() : first->ends;
            if (origin_is_asked() && origin_ends <= ends) return from_origin();
            now = std::min(ends, next.at);
            if (now < ends) continue;
            const auto ended = *first;
            open_.erase(first);
            if (!end(proxy, object, ended, true, answer, counts)) continue;
            for (const auto& each : open_) end(proxy, object, each, false, answer, counts);
            answer.from = ended.turn.peer;
            answer.waited = now - begin;
            return answer;
        }
    }

    OpenRequest open_request(std::size_t proxy, proxy::PeerTurn turn, Duration latest,
                             TimePoint now) {
        OpenRequest out{turn, lines_.reaches(proxy, turn.peer, now), latest, {}};
        if (out.reaches) out.takes = lines_.round_trip();
        out.reaches = out.reaches && out.takes <= latest;
        out.takes = std::min(out.takes, latest);
        out.ends = now + out.takes;
        return out;
    }

    /// Learns from the end of a request. Returns true if the answer is usable and `wanted`.
    bool end(std::size_t proxy, std::uint32_t object, const OpenRequest& ended, bool wanted,
             Answer& answer, SimulationCounts& counts) {
        using proxy::PeerVerdict;
        const auto [peer, promised] = ended.turn;
        auto& record = of(proxy)[peer];
        if (!ended.reaches) {
            record.ended(PeerVerdict::timeout, ended.ends);
            ++counts.failures;
            note_vain(object, counts);
            return false;
        }
        record.answered_after(ended.takes, ended.ends);
        const bool it_has = has(peer, object);
        const bool is_fresh = it_has && shared_.freshness.is_fresh(peer, object, ended.ends);
        if (!promised) note_denial(proxy, peer, is_fresh, false);
        if (is_fresh) {
            record.ended(wanted ? PeerVerdict::hit : PeerVerdict::outrun, ended.ends);
            return wanted;
        }
        note_vain(object, counts);
        if (it_has) {
            record.ended(PeerVerdict::stale_hit, ended.ends);
            ++counts.stale_hits;
            if (!answer.stale_at) answer.stale_at = peer;
        } else if (!promised) {
            record.ended(PeerVerdict::refused, ended.ends);
        } else {
            record.ended(PeerVerdict::false_hit, ended.ends);
            const bool was_announced = knowledge_.was_announced(proxy, peer, object);
            if (!was_announced) ++nodes_[proxy].seen.collisions;
            ++(was_announced ? counts.false_hits_evicted : counts.false_hits_collision);
        }
        return false;
    }

    void note_denial(std::size_t proxy, std::size_t peer, bool had_it, bool sampled) {
        auto& record = of(proxy)[peer];
        sampled ? record.sampled(had_it) : record.denied(had_it);
        const auto number = static_cast<unsigned>(peer);
        if (record.false_miss_rate() > 0)
            nodes_[proxy].denying.insert(number);
        else
            nodes_[proxy].denying -= summary::PeerSet{number};
    }

    /// Asks a peer whose summary denies the object now and then, while no client waits for it.
    void sample(std::size_t proxy, std::uint32_t object, const summary::PeerSet& candidates,
                TimePoint now, SimulationCounts& counts) {
        auto& samples = nodes_[proxy].samples;
        if (!samples.takes_next(bounds_.misses_per_sample)) return;
        const auto others = candidates | summary::PeerSet{static_cast<unsigned>(proxy)};
        const auto peer = samples.whom(peers_, of(proxy), others, now);
        if (!peer || !lines_.reaches(proxy, *peer, now)) return;
        const bool had_it = has(*peer, object) && shared_.freshness.is_fresh(*peer, object, now);
        ++counts.samples;
        note_vain(object, counts);
        note_denial(proxy, *peer, had_it, true);
    }

    /// Corrects the error of the own summary by the false hits of others. A node has to wait until
    /// it can tell collisions from evictions; the simulation knows at once.
    void correct(std::size_t proxy, TimePoint now) {
        auto& node = nodes_[proxy];
        if (now - node.judged < kBetweenJudgements) return;
        node.judged = now;
        using Judgement = summary::ErrorControl::Judgement;
        const auto budget = shared_.config.false_hit_budget;
        const auto verdict = node.control.judge(budget, node.seen);
        if (verdict == Judgement::too_early) return;
        node.seen = {};
        if (verdict == Judgement::corrected)
            knowledge_.set_error(proxy, node.control.error(budget, proxies_ - 1), now);
    }

    void note_vain(std::uint32_t object, SimulationCounts& counts) const {
        ++counts.query_messages;
        counts.query_bytes += kVainBytes + shared_.objects.uri(object).size();
    }

    const KnowledgeInputs shared_;
    Knowledge& knowledge_;
    SimulatedLines& lines_;
    const std::size_t proxies_;
    protocol::PeerView::Peers peers_;
    std::vector<proxy::PeerRecord> records_;  // of each about each
    std::vector<Node> nodes_;
    std::vector<OpenRequest> open_;  // of the current race
    const proxy::PeerTimes bounds_;
    proxy::RoundTrip origin_;
};

}  // namespace

std::unique_ptr<PeerSearch> make_as_nodes(const KnowledgeInputs& shared, Knowledge& knowledge,
                                          SimulatedLines& lines) {
    return std::make_unique<NodeSearch>(shared, knowledge, lines);
}

}  // namespace measure
