#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "summary/peer_set.hpp"

namespace summary {

/// A word that one thread writes and any reads. A load and a store are enough for one writer, and
/// much cheaper than a locked instruction.
inline void change_shared(std::uint64_t& word, std::uint64_t mask, std::uint64_t bits) {
    const std::atomic_ref<std::uint64_t> shared(word);
    const auto before = shared.load(std::memory_order_relaxed);
    const auto after = (before & ~mask) | bits;
    if (after != before) shared.store(after, std::memory_order_relaxed);
}

/// An atomic_ref wants something that it could write to, though this only reads.
inline std::uint64_t read_shared(const std::uint64_t& word) {
    const std::atomic_ref<std::uint64_t> shared(const_cast<std::uint64_t&>(word));
    return shared.load(std::memory_order_relaxed);
}

/// Whose the places in one table of the directory are. One writer thread; what is marked so may be
/// asked by any thread meanwhile.
class Lanes {
public:
    explicit Lanes(std::size_t count) : peers_(count, kNobody) {}

    std::size_t size() const { return peers_.size(); }
    bool full() const { return used_ == peers_.size(); }
    /// Gives the next one to `peer`. Precondition: !full().
    std::size_t take(unsigned peer) {
        change_shared(peers_[used_], ~std::uint64_t{0}, peer);
        return used_++;
    }
    std::size_t used() const { return used_; }
    unsigned peer(std::size_t lane) const { return static_cast<unsigned>(peers_[lane]); }

    void one_counts() { change_shared(counting_, ~std::uint64_t{0}, counting_ + 1); }
    void one_counts_no_more() { change_shared(counting_, ~std::uint64_t{0}, counting_ - 1); }
    /// Any thread: does anybody count?
    bool any_counts() const { return read_shared(counting_) != 0; }

    /// Any thread. A lane that has just been taken may show its bits before it shows whose they
    /// are.
    void add_peer(std::size_t lane, PeerSet& to) const {
        const auto peer = read_shared(peers_[lane]);
        if (peer != kNobody) to.insert(static_cast<unsigned>(peer));
    }

private:
    static constexpr std::uint64_t kNobody = kMaxPeers;

    std::vector<std::uint64_t> peers_;  // kNobody where it was never used
    std::size_t used_ = 0;
    std::uint64_t counting_ = 0;
};

}  // namespace summary
