#include "proxy/upstream/miss_samples.hpp"

#include <algorithm>

namespace proxy {

bool MissSamples::takes_next(unsigned misses_per_sample) {
    return misses_per_sample > 0 && open_ < kMaxOpen && random() % misses_per_sample == 0;
}

std::optional<std::size_t> MissSamples::whom(const protocol::PeerView::Peers& peers,
                                             std::span<const PeerRecord> records,
                                             const summary::PeerSet& promised,
                                             PeerRecord::Time now) {
    const auto count = std::min(peers.size(), records.size());
    if (count == 0) return std::nullopt;
    const auto first = random() % count;
    for (std::size_t i = 0; i < count; ++i) {
        const auto at = (first + i) % count;
        const auto& peer = peers[at];
        if (peer.in_sync && peer.can_be_asked() && records[at].may_ask(now) &&
            !promised.contains(static_cast<unsigned>(at)))
            return at;
    }
    return std::nullopt;
}

/// SplitMix64.
std::uint64_t MissSamples::random() {
    auto mixed = state_ += 0x9E3779B97F4A7C15u;
    mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9u;
    mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EBu;
    return mixed ^ (mixed >> 31);
}

}  // namespace proxy
