#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "protocol/membership/peer_view.hpp"
#include "proxy/upstream/peer_record.hpp"
#include "summary/directory/peer_set.hpp"

namespace proxy {

/// The choice of local misses that measure false misses, the keys that a peer has and its summary
/// hides. One miss in so many, at random, sends a request to one peer whose summary says no. The
/// request runs beside the origin, so it delays no client. One thread; no I/O, no clock.
class MissSamples {
public:
    /// A silent peer whose link is alive keeps a request open for a while.
    static constexpr unsigned kMaxOpen = 16;

    explicit MissSamples(std::uint64_t seed) : state_(seed) {}

    /// True if this miss is a sample. `misses_per_sample`: 0 for none. False while kMaxOpen are
    /// under way.
    bool takes_next(unsigned misses_per_sample);
    /// The peer that gets the request, at random. `promised`: peers whose summaries have the key.
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
