#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "protocol/peer_view.hpp"
#include "proxy/upstream/peer_choice.hpp"
#include "summary/peer_set.hpp"

namespace proxy {

/// Which local misses are used to find out how often summaries hide what their peers have (false
/// misses): one in so many, at random, each by a question to one peer whose summary says no, beside
/// the origin, so that nobody waits for it. One thread; no I/O, no clock.
class MissSamples {
public:
    explicit MissSamples(std::uint64_t seed) : state_(seed) {}

    /// Is this miss one of them? `misses_per_sample`: 0 for none.
    bool takes_next(unsigned misses_per_sample);
    /// The peer that is asked about it, at random. `promised`: those whose summaries have the key.
    std::optional<std::size_t> whom(const protocol::PeerView::Peers& peers,
                                    std::span<const PeerRecord> records,
                                    const summary::PeerSet& promised, PeerRecord::Time now);

private:
    std::uint64_t random();

    std::uint64_t state_;
};

}  // namespace proxy
