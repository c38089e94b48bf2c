#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "summary/key_hash.hpp"

namespace measure {

/// How often keys have come lately, as TinyLFU counts: a count-min sketch of four rows of counters
/// up to 15, of which only the least are raised, and all are halved after so many uses that lately
/// stays lately. Estimates are never too low but for that, and at most kMost. Memory: 16 to 32
/// bytes for each key that it was told to have room for.
/// Source: Einziger, Friedman, Manes, "TinyLFU: A Highly Efficient Cache Admission Policy", ACM
/// Transactions on Storage 13(4), 2017.
class FrequencySketch {
public:
    static constexpr unsigned kMost = 15;
    static constexpr std::uint64_t kSample = 10;  // uses for each key, before all are halved
    static constexpr std::uint64_t kMinKeys = 16;

    FrequencySketch() { resize(kMinKeys); }

    /// So many keys are to be told apart; what was counted is kept.
    void make_room_for(std::uint64_t keys) {
        if (keys > keys_) resize(keys);
    }
    void add(summary::KeyHash key);
    unsigned estimate(summary::KeyHash key) const;
    std::uint64_t keys() const { return keys_; }  // it has room for

private:
    static constexpr std::size_t kRows = 4;
    static constexpr std::uint64_t kWidth = 4;  // counters of a row for each key

    using Row = std::vector<std::uint8_t>;  // one counter each: they are simulated, after all
    std::array<std::size_t, kRows> places(summary::KeyHash key) const;
    void resize(std::uint64_t keys);

    std::uint64_t keys_ = 0;
    std::uint64_t added_ = 0;  // since the last halving, less the half of what was there then
    std::array<Row, kRows> rows_;
};

}  // namespace measure
