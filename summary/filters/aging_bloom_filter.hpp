#pragma once

#include <cstdint>
#include <span>

#include "summary/bits/words.hpp"
#include "summary/sizing/shape.hpp"

namespace summary {

/// Detects duplicates in an endless stream of keys, and forgets old ones. The filter has two
/// buffers and looks in both; new keys go into the first. When the first buffer has `capacity`
/// keys, the second is cleared and the buffers change places. A key that only the second buffer has
/// is inserted into the first again, so a key that keeps coming is remembered.
///
///     AgingBloomFilter seen({.keys = 1'000'000, .error = 0.03});
///     if (seen.check_and_insert(hash)) admit();   // it has come before
///
/// The filter remembers the last capacity() different keys for sure, and at most twice as many.
/// When both buffers are full, it takes a new key for a known one with the chance Config::error.
/// Memory: 2 * shape().bits / 8 bytes, taken on first use, or 2.2 bytes for each key of the
/// capacity at an error of 3 %. A call takes at most the time of setting one key's bits and
/// clearing one bit in 4096: the filter marks chunks as stale, and clears a chunk when it writes to
/// it. One thread. Source: Yoon 2010, Aging Bloom Filter with Two Active Buffers for Dynamic Sets.
class AgingBloomFilter {
public:
    struct Config {
        std::uint64_t keys = 0;  // to be remembered for sure; 0 counts as 1
        double error = 0.03;     // of both buffers when both are full; between 0 and 1
    };
    /// Sizes both buffers from `config`: each gets the error 1 - sqrt(1 - error). The capacity
    /// falls below Config::keys only when kMaxBits bits are too few.
    explicit AgingBloomFilter(Config config);
    /// Gives each buffer this shape and capacity. Preconditions: is_valid(shape), capacity > 0.
    AgingBloomFilter(Shape shape, std::uint64_t capacity);

    /// Returns whether the key has come lately, and records that it has come now.
    bool check_and_insert(KeyHash key) { return check_and_insert(positions(key, shape_)); }
    /// The same for bit positions, each below shape().bits.
    bool check_and_insert(std::span<const std::uint64_t> positions);
    /// Returns whether the key has come lately, and changes nothing.
    bool contains(KeyHash key) const;

    std::uint64_t capacity() const { return capacity_; }
    Shape shape() const { return shape_; }
    /// Keys in the first buffer, from 0 to capacity().
    std::uint64_t newest() const { return newest_; }
    /// Counts how often the buffers have changed places.
    std::uint64_t turns() const { return turns_; }
    std::uint64_t memory_bytes() const;

private:
    /// Bits in chunks. Every bit of a stale chunk counts as 0.
    class Buffer {
    public:
        explicit Buffer(std::uint64_t bits);

        bool has(std::span<const std::uint64_t> positions) const;
        void set(std::uint64_t position);
        void clear();
        std::uint64_t memory_bytes() const { return (bits_.size() + stale_.size()) * 8; }

    private:
        static constexpr std::size_t kChunkWords = 64;  // 512 bytes, one bit of stale_

        Words bits_;
        Words stale_;
    };

    Shape shape_;
    std::uint64_t capacity_;
    std::uint64_t newest_ = 0;
    std::uint64_t turns_ = 0;
    Buffer first_, second_;
};

}  // namespace summary
