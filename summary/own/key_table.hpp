#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "summary/sizing/key_hash.hpp"

namespace summary {

/// The keys of one shard, ordered by KeyHash::high, which identifies them here. An open-addressing
/// table whose places follow that order (Amble and Knuth 1974, ordered hash tables), so the table
/// can be read in order and knows ranks. One thread only. Memory: 9.5 to 11 bytes for each key, up
/// to 140 after most keys have gone. A `high` of 0 counts as 1.
class KeyTable {
public:
    /// Returns false and leaves the table unchanged when the key is present.
    bool insert(KeyHash key);
    /// Returns false and leaves the table unchanged when the key is absent.
    bool erase(KeyHash key);

    std::size_t size() const { return size_; }
    /// The number of keys with a lower `high`.
    std::uint64_t rank(std::uint64_t high) const;

    /// Calls `visit(KeyHash)` for each key, with `low` 0, in the order of `high`.
    template <class Visit>
    void for_each(Visit visit) const {
        for (const auto high : slots_) {
            if (high != 0) visit(KeyHash{0, high});
        }
    }
    /// The cost of for_each() in keys, at least 1: it also reads empty places.
    std::uint64_t cost_of_visit() const;

    std::uint64_t memory_bytes() const {
        return slots_.capacity() * sizeof(std::uint64_t) + used_.capacity();
    }

private:
    static constexpr std::size_t kGroup = 64;  // slots counted together

    std::size_t home(std::uint64_t high) const;
    std::size_t find(std::uint64_t high) const;
    std::size_t end_of_cluster(std::size_t slot) const;
    void grow();

    std::vector<std::uint64_t> slots_;  // 0: empty. There are some more than homes_, so clusters
                                        // end before the end of the table
    std::size_t homes_ = 0;
    std::size_t size_ = 0;
    std::vector<std::uint8_t> used_;  // slots of each group
};

}  // namespace summary
