#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "summary/fingerprint.hpp"
#include "summary/key_hash.hpp"

namespace summary {

/// The exact keys of one shard (all have the same upper kKeyShardsLog2 bits in `high`), in the
/// order of `high`: an open-addressing table whose places follow that order (Amble and Knuth 1974,
/// ordered hash tables), so that it is read in order, and knows ranks, without being sorted. One
/// thread only. Memory: 20 to 26 bytes a key, up to 280 once most went. {0, 0} counts as {1, 0}.
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

    /// Calls `visit(key)` for each, in the order of `high`.
    template <class Visit>
    void for_each(Visit visit) const {
        for (const auto key : slots_) {
            if (key != KeyHash{}) visit(key);
        }
    }

    std::uint64_t memory_bytes() const {
        return slots_.capacity() * sizeof(KeyHash) + used_.capacity();
    }

private:
    static constexpr std::size_t kGroup = 64;  // slots that are counted together

    std::size_t home(std::uint64_t high) const;
    std::size_t find(KeyHash key) const;
    std::size_t end_of_cluster(std::size_t slot) const;
    void grow();

    std::vector<KeyHash> slots_;  // {} is empty; some more than homes_, as nothing wraps around
    std::size_t homes_ = 0;
    std::size_t size_ = 0;
    std::vector<std::uint8_t> used_;  // slots of each group
};

}  // namespace summary
