#pragma once

#include <cstdint>
#include <span>

#include "summary/shape.hpp"
#include "summary/words.hpp"

namespace summary {

/// Which keys of an endless stream have come lately: a detector of duplicates that forgets. Two
/// buffers, both looked at; new keys go into the first. When that holds `capacity` keys, the second
/// is cleared and they change places, so what was seen last is remembered. A key that only the
/// second has goes into the first again, so what keeps coming is not forgotten.
///
///     AgingBloomFilter seen({.keys = 1'000'000, .error = 0.03});
///     if (seen.check_and_insert(hash)) admit();   // it has come before
///
/// Remembers the last capacity() different keys for sure, twice as many at most; says "seen" of a
/// key that it does not remember with the chance expected_error(). Memory: 2 * shape().bits / 8
/// bytes, taken as it is first touched; at an error of 3 % that is 2.2 bytes for each key of the
/// capacity. No call takes longer than setting one key's bits, and clearing one bit for each 4096:
/// what is to be cleared is noted, and cleared when it is written to. One thread.
/// Source: Yoon 2010, Aging Bloom Filter with Two Active Buffers for Dynamic Sets.
class AgingBloomFilter {
public:
    struct Config {
        std::uint64_t keys = 0;  // to be remembered for sure; 0 counts as 1
        double error = 0.03;     // of both buffers, when both are full; between 0 and 1
    };
    /// Sized by Config: each buffer gets the error 1 - sqrt(1 - error). The capacity is less than
    /// Config::keys only when kMaxBits do not hold them.
    explicit AgingBloomFilter(Config config);
    /// Each buffer is of this shape and takes so many keys. Preconditions: is_valid(shape),
    /// capacity > 0.
    AgingBloomFilter(Shape shape, std::uint64_t capacity);

    /// Has the key come lately? From now on it has.
    bool check_and_insert(KeyHash key) { return check_and_insert(positions(key, shape_)); }
    /// The same by bit positions, each below shape().bits.
    bool check_and_insert(std::span<const std::uint64_t> positions);
    /// Has it come lately? Leaves everything as it is.
    bool contains(KeyHash key) const;

    std::uint64_t capacity() const { return capacity_; }
    Shape shape() const { return shape_; }
    /// Keys in the first buffer, 0 .. capacity().
    std::uint64_t newest() const { return newest_; }
    /// How often the buffers have changed places.
    std::uint64_t turns() const { return turns_; }
    std::uint64_t memory_bytes() const;

private:
    /// Bits of which those in a stale chunk count as 0, whatever they are.
    class Buffer {
    public:
        explicit Buffer(std::uint64_t bits);

        bool has(std::span<const std::uint64_t> positions) const;
        void set(std::uint64_t position);
        void clear();
        std::uint64_t memory_bytes() const { return (bits_.size() + stale_.size()) * 8; }

    private:
        static constexpr std::size_t kChunkWords = 64;  // 512 bytes, a bit of stale_

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
