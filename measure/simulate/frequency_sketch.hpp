#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "summary/sizing/key_hash.hpp"

namespace measure {

/// Estimates how often keys were used recently, as TinyLFU does: a count-min sketch of four rows
/// with counters up to 15. A use raises only the smallest counters of a key. After kSample uses per
/// key all counters are halved, so old uses fade. Apart from halving, estimates are at least the
/// true count, up to kMost. Memory: 16 to 32 bytes for each key of its capacity. Source: Einziger,
/// Friedman, Manes, "TinyLFU: A Highly Efficient Cache Admission Policy", ACM Transactions on
/// Storage 13(4), 2017.
class FrequencySketch {
public:
    static constexpr unsigned kMost = 15;
    static constexpr std::uint64_t kSample = 10;  // uses for each key between two halvings
    static constexpr std::uint64_t kMinKeys = 16;

    FrequencySketch() { resize(kMinKeys); }

    /// Grows to a capacity of so many keys, and keeps the counts.
    void make_room_for(std::uint64_t keys) {
        if (keys > keys_) resize(keys);
    }
    void add(summary::KeyHash key);
    unsigned estimate(summary::KeyHash key) const;
    std::uint64_t keys() const { return keys_; }  // capacity

private:
    static constexpr std::size_t kRows = 4;
    static constexpr std::uint64_t kWidth = 4;  // counters of a row for each key

    using Row = std::vector<std::uint8_t>;  // one counter each; memory matters little in a
                                            // simulation
    std::array<std::size_t, kRows> places(summary::KeyHash key) const;
    void resize(std::uint64_t keys);

    std::uint64_t keys_ = 0;
    std::uint64_t added_ = 0;  // uses since the last halving; a halving leaves half of them
    std::array<Row, kRows> rows_;
};

}  // namespace measure
