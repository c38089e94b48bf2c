#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "summary/bits/shared_words.hpp"
#include "summary/directory/peer_set.hpp"

namespace summary {

/// Assigns the lanes of one table of the directory to peers. One writer thread; any thread may call
/// the functions marked so.
class Lanes {
public:
    explicit Lanes(std::size_t count) : peers_(count, kNobody) {}

    std::size_t size() const { return peers_.size(); }
    bool full() const { return used_ == peers_.size(); }
    /// Gives the next lane to `peer`. Precondition: !full().
    std::size_t take(unsigned peer) {
        relaxed_change(peers_[used_], ~std::uint64_t{0}, peer);
        return used_++;
    }
    std::size_t used() const { return used_; }
    unsigned peer(std::size_t lane) const { return static_cast<unsigned>(peers_[lane]); }

    void one_counts() { relaxed_change(counting_, ~std::uint64_t{0}, counting_ + 1); }
    void one_counts_no_more() { relaxed_change(counting_, ~std::uint64_t{0}, counting_ - 1); }
    /// Any thread: returns whether any peer counts.
    bool any_counts() const { return relaxed_load(counting_) != 0; }

    /// Any thread. A lane that was just taken may show its bits before it shows its peer.
    void add_peer(std::size_t lane, PeerSet& to) const {
        const auto peer = relaxed_load(peers_[lane]);
        if (peer != kNobody) to.insert(static_cast<unsigned>(peer));
    }

private:
    static constexpr std::uint64_t kNobody = kMaxPeers;

    std::vector<std::uint64_t> peers_;  // kNobody: an unused lane
    std::size_t used_ = 0;
    std::uint64_t counting_ = 0;
};

}  // namespace summary
