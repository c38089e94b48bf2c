#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "summary/key_hash.hpp"

namespace summary {

/// The keys of one shard, which are known by KeyHash::high, in its order: an open-addressing table
/// whose places follow that order (Amble and Knuth 1974, ordered hash tables), so that it is read
/// in order, and knows ranks, without being sorted. One thread only. Memory: 9.5 to 11 bytes a key,
/// up to 140 once most went. A `high` of 0 counts as 1.
class KeyTable {
public:
    /// False, and nothing changes, when it was there already.
    bool insert(KeyHash key);
    /// False, and nothing changes, when it was not there.
    bool erase(KeyHash key);
    bool contains(KeyHash key) const;

    std::size_t size() const { return size_; }
    /// How many keys have a lower `high`.
    std::uint64_t rank(std::uint64_t high) const;

    /// Calls `visit(KeyHash)` for each, with `low` 0, in the order of `high`.
    template <class Visit>
    void for_each(Visit visit) const {
        for (const auto high : slots_) {
            if (high != 0) visit(KeyHash{0, high});
        }
    }
    /// What that costs, in keys, at least 1: empty places are gone through, too.
    std::uint64_t cost_of_visit() const;

    std::uint64_t memory_bytes() const {
        return slots_.capacity() * sizeof(std::uint64_t) + used_.capacity();
    }

private:
    static constexpr std::size_t kGroup = 64;  // slots that are counted together

    std::size_t home(std::uint64_t high) const;
    std::size_t find(std::uint64_t high) const;
    std::size_t end_of_cluster(std::size_t slot) const;
    void grow();

    std::vector<std::uint64_t> slots_;  // 0 is empty; some more than homes_: nothing wraps around
    std::size_t homes_ = 0;
    std::size_t size_ = 0;
    std::vector<std::uint8_t> used_;  // slots of each group
};

}  // namespace summary
