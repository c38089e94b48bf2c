#include "measure/simulate/make_peer_search.hpp"

#include <vector>

#include "measure/simulate/node_search.hpp"

namespace measure {
namespace {

using Duration = SimulatedLines::Duration;

/// The inputs that all searches share.
struct SearchInputs {
    const KnowledgeInputs shared;
    const Knowledge& knowledge;
    SimulatedLines& lines;

    Duration origin() const { return shared.config.network.origin; }
    bool has(std::size_t peer, std::uint32_t object) const {
        return shared.holders.has(object, peer);
    }
    /// Returns true if the peer has the object, and needs to validate it.
    bool is_stale(std::size_t peer, std::uint32_t object, PeerSearch::TimePoint now) const {
        return !shared.freshness.is_fresh(peer, object, now);
    }
    void note_false_hit(std::size_t proxy, std::size_t peer, std::uint32_t object,
                        SimulationCounts& counts) const {
        ++(knowledge.was_announced(proxy, peer, object) ? counts.false_hits_evicted
                                                        : counts.false_hits_collision);
    }
};

/// Sends a query to all peers at once, and fetches from the first that reports the object.
class IcpSearch final : public PeerSearch {
public:
    explicit IcpSearch(const SearchInputs& ways) : ways_(ways) {}

    Answer ask(std::size_t proxy, std::uint32_t object, const summary::PeerSet& candidates,
               TimePoint now, SimulationCounts& counts) override {
        const auto messages = 2 * (ways_.shared.config.proxies - 1);
        counts.query_messages += messages;
        counts.query_bytes += messages * kIcpBytes;
        const auto queried = ways_.lines.round_trip();
        for (const auto peer : candidates) {
            if (!ways_.has(peer, object) || ways_.is_stale(peer, object, now) ||
                !ways_.lines.reaches(proxy, peer, now))
                continue;
            ++counts.peer_requests;
            return {peer, {}, queried + ways_.lines.round_trip()};
        }
        return {{}, {}, queried + ways_.origin()};
    }

private:
    const SearchInputs ways_;
};

/// Asks all candidates one after the other, in any order, until one has the object. With queries,
/// as in the paper, or without.
class SequentialSearch final : public PeerSearch {
public:
    SequentialSearch(const SearchInputs& ways, bool queries)
        : ways_(ways), queries_(queries), random_(ways.shared.config.seed) {}

    Answer ask(std::size_t proxy, std::uint32_t object, const summary::PeerSet& candidates,
               TimePoint now, SimulationCounts& counts) override {
        left_.assign(candidates.begin(), candidates.end());
        Duration waited{0};
        while (!left_.empty()) {
            const auto next = random_.below(left_.size());
            const auto peer = left_[next];
            left_[next] = left_.back();
            left_.pop_back();
            ++counts.peer_requests;
            waited += ways_.lines.round_trip();
            const bool has = ways_.has(peer, object);
            const bool stale = has && ways_.is_stale(peer, object, now);
            if (queries_ || !has) {
                counts.query_messages += queries_ ? 2 : 1;
                counts.query_bytes += 2 * kIcpBytes;
            }
            if (!has) {
                ways_.note_false_hit(proxy, peer, object, counts);
                continue;
            }
            if (stale) {
                ++counts.stale_hits;
                continue;
            }
            if (queries_) waited += ways_.lines.round_trip();
            return {peer, {}, waited};
        }
        return {{}, {}, waited + ways_.origin()};
    }

private:
    const SearchInputs ways_;
    const bool queries_;
    SplitMix random_;
    std::vector<unsigned> left_;
};

}  // namespace

std::unique_ptr<PeerSearch> make_peer_search(const KnowledgeInputs& shared, Knowledge& knowledge,
                                             SimulatedLines& lines) {
    const SearchInputs ways{shared, knowledge, lines};
    switch (shared.config.scheme) {
        case Scheme::icp:
            return std::make_unique<IcpSearch>(ways);
        case Scheme::exact_directory:
        case Scheme::server_names:
        case Scheme::paper_bloom:
            return std::make_unique<SequentialSearch>(ways, true);
        case Scheme::squid_digest:
            return std::make_unique<SequentialSearch>(ways, false);
        default:
            return make_as_nodes(shared, knowledge, lines);
    }
}

}  // namespace measure
