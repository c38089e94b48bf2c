#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "protocol/membership/peer_view.hpp"
#include "proxy/upstream/peer_record.hpp"
#include "summary/peer_set.hpp"

namespace proxy {

/// Which local misses are used to find out how often summaries hide what their peers have (false
/// misses): one in so many, at random, each by a question to one peer whose summary says no, beside
/// the origin, so that nobody waits for it. One thread; no I/O, no clock.
class MissSamples {
public:
    /// A peer whose link lives and that does not answer keeps a question for a while.
    static constexpr unsigned kMaxOpen = 16;

    explicit MissSamples(std::uint64_t seed) : state_(seed) {}

    /// Is this miss one of them? `misses_per_sample`: 0 for none. None while kMaxOpen are under
    /// way.
    bool takes_next(unsigned misses_per_sample);
    /// The peer that is asked about it, at random. `promised`: those whose summaries have the key.
    std::optional<std::size_t> whom(const protocol::PeerView::Peers& peers,
                                    std::span<const PeerRecord> records,
                                    const summary::PeerSet& promised, PeerRecord::Time now);

    void begun() { ++open_; }
    void ended() { --open_; }

private:
    std::uint64_t random();

    std::uint64_t state_;
    unsigned open_ = 0;
};

}  // namespace proxy
