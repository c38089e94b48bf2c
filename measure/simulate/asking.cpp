#include "measure/simulate/asking.hpp"

#include <algorithm>
#include <span>
#include <vector>

#include "protocol/peer_view.hpp"
#include "proxy/cache/peer_plan.hpp"

namespace measure {
namespace {

using Duration = SimulatedLines::Duration;

double ms(Duration time) {
    return std::chrono::duration<double, std::milli>(time).count();
}

/// What all ways of asking go by.
struct Ways {
    const Shared shared;
    const Sharing& sharing;
    SimulatedLines& lines;

    Duration origin() const { return shared.config.network.origin; }
    bool has(std::size_t peer, std::uint32_t object) const {
        return shared.holders.has(object, peer);
    }
    void note_false_hit(std::size_t proxy, std::size_t peer, std::uint32_t object,
                        SimulationCounts& counts) const {
        ++(sharing.was_told(proxy, peer, object) ? counts.false_hits_stale
                                                 : counts.false_hits_collision);
    }
};

/// As a node does it: the production choice of whom to ask, which learns from what it meets.
class AsNodes final : public Asking {
public:
    explicit AsNodes(const Ways& ways)
        : ways_(ways), proxies_(ways.shared.config.proxies), records_(proxies_ * proxies_) {
        peers_.resize(proxies_);
        for (std::size_t i = 0; i < proxies_; ++i) {
            protocol::PeerView::Peer peer;
            peer.node = peer.http.host = peer.token = "simulated";
            peer.in_sync = true;
            peers_.set(i, std::move(peer));
        }
        for (unsigned i = 0; i < proxy::RoundTrip::kWellKnownAfter; ++i)
            origin_.measured(ways.origin());
    }

    Answer ask(std::size_t proxy, std::uint32_t object, const summary::PeerSet& candidates,
               TimePoint now, SimulationCounts& counts) override {
        const auto records = std::span(records_).subspan(proxy * proxies_, proxies_);
        const auto whom = proxy::whom_to_ask(candidates, {}, std::nullopt,
                                             {peers_, records, bounds_, origin_, now});
        if (whom.count == 0) return {std::nullopt, ms(ways_.origin())};
        const auto budget =
            whom.beside_the_origin
                ? Duration(0)
                : proxy::peer_budget(records[whom.turns[0].peer].round_trip(), origin_, bounds_);
        const auto latest = budget + ways_.origin();  // then the origin has answered
        Duration waited{0};
        for (std::size_t i = 0; i < whom.count; ++i) {
            const auto peer = whom.turns[i].peer;
            auto& record = records[peer];
            record.asked();
            ++counts.questions;
            if (!ways_.lines.reaches(proxy, peer, now)) {
                record.ended(proxy::PeerVerdict::timeout, now);
                ++counts.failures;
                note_vain(object, counts);
                waited = budget;
                break;  // the origin has been asked meanwhile
            }
            const auto round_trip = ways_.lines.round_trip();
            waited += round_trip;
            record.answered_after(round_trip, now);
            if (ways_.has(peer, object) && waited <= latest) {
                record.ended(proxy::PeerVerdict::hit, now);
                return {peer, ms(waited)};
            }
            if (ways_.has(peer, object)) {
                record.ended(proxy::PeerVerdict::outrun, now);
                break;
            }
            record.ended(proxy::PeerVerdict::false_hit, now);
            ways_.note_false_hit(proxy, peer, object, counts);
            note_vain(object, counts);
            if (waited >= budget) break;
        }
        return {std::nullopt, ms(std::min(waited, budget) + ways_.origin())};
    }

    void restarted(std::size_t proxy) override {
        const auto known = std::span(records_).subspan(proxy * proxies_, proxies_);
        std::fill(known.begin(), known.end(), proxy::PeerRecord());
    }

private:
    /// A question over HTTP and its refusal, but for the URI: measured with a client that sends
    /// five fields.
    static constexpr std::uint64_t kVainBytes = 598;

    void note_vain(std::uint32_t object, SimulationCounts& counts) const {
        ++counts.query_messages;
        counts.query_bytes += kVainBytes + ways_.shared.objects.uri(object).size();
    }

    const Ways ways_;
    const std::size_t proxies_;
    protocol::PeerView::Peers peers_;
    std::vector<proxy::PeerRecord> records_;  // of each about each
    const proxy::ClusterConfig bounds_;
    proxy::RoundTrip origin_;
};

/// Everybody is asked at once by a query; whoever says first that he has it is then asked for it.
class ByIcp final : public Asking {
public:
    explicit ByIcp(const Ways& ways) : ways_(ways) {}

    Answer ask(std::size_t proxy, std::uint32_t object, const summary::PeerSet& candidates,
               TimePoint now, SimulationCounts& counts) override {
        const auto messages = 2 * (ways_.shared.config.proxies - 1);
        counts.query_messages += messages;
        counts.query_bytes += messages * kIcpBytes;
        const auto queried = ways_.lines.round_trip();
        for (const auto peer : candidates) {
            if (!ways_.has(peer, object) || !ways_.lines.reaches(proxy, peer, now)) continue;
            ++counts.questions;
            return {peer, ms(queried + ways_.lines.round_trip())};
        }
        return {std::nullopt, ms(queried + ways_.origin())};
    }

private:
    const Ways ways_;
};

/// All candidates, one after the other, in any order, until one has it. With queries, as the paper
/// does it, or without.
class InTurn final : public Asking {
public:
    InTurn(const Ways& ways, bool queries)
        : ways_(ways), queries_(queries), random_(ways.shared.config.seed) {}

    Answer ask(std::size_t proxy, std::uint32_t object, const summary::PeerSet& candidates,
               TimePoint, SimulationCounts& counts) override {
        left_.assign(candidates.begin(), candidates.end());
        Duration waited{0};
        while (!left_.empty()) {
            const auto next = random_.below(left_.size());
            const auto peer = left_[next];
            left_[next] = left_.back();
            left_.pop_back();
            ++counts.questions;
            waited += ways_.lines.round_trip();
            const bool has = ways_.has(peer, object);
            if (queries_ || !has) {
                counts.query_messages += queries_ ? 2 : 1;
                counts.query_bytes += 2 * kIcpBytes;
            }
            if (!has) {
                ways_.note_false_hit(proxy, peer, object, counts);
                continue;
            }
            if (queries_) waited += ways_.lines.round_trip();
            return {peer, ms(waited)};
        }
        return {std::nullopt, ms(waited + ways_.origin())};
    }

private:
    const Ways ways_;
    const bool queries_;
    SplitMix random_;
    std::vector<unsigned> left_;
};

}  // namespace

std::unique_ptr<Asking> make_asking(const Shared& shared, const Sharing& sharing,
                                    SimulatedLines& network) {
    const Ways ways{shared, sharing, network};
    switch (shared.config.scheme) {
        case Scheme::icp:
            return std::make_unique<ByIcp>(ways);
        case Scheme::exact_directory:
        case Scheme::server_names:
        case Scheme::paper_bloom:
            return std::make_unique<InTurn>(ways, true);
        case Scheme::squid_digest:
            return std::make_unique<InTurn>(ways, false);
        default:
            return std::make_unique<AsNodes>(ways);
    }
}

}  // namespace measure
