#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "summary/fingerprint.hpp"
#include "summary/words.hpp"

namespace summary {

/// A cuckoo filter's size: 2^buckets_log2 buckets of four tags. The power of two is what makes a
/// tag's two buckets lead to each other.
struct CuckooShape {
    unsigned buckets_log2 = 0;
    unsigned tag_bits = 0;

    bool operator==(const CuckooShape&) const = default;
};

inline constexpr unsigned kTagsInBucket = 4;
inline constexpr unsigned kMinTagBits = 4;
inline constexpr unsigned kMaxTagBits = 16;  // so that a bucket is one word at most
inline constexpr unsigned kMaxBucketsLog2 = 28;
inline constexpr double kMaxCuckooLoad = 0.95;  // beyond it finding room takes ever longer

/// False for shapes that the filter does not take; ask it of every shape that comes from outside.
constexpr bool is_valid(CuckooShape shape) {
    return shape.buckets_log2 <= kMaxBucketsLog2 && shape.tag_bits >= kMinTagBits &&
           shape.tag_bits <= kMaxTagBits &&
           (kMaxUniverse >> shape.buckets_log2 >> shape.tag_bits) != 0;
}

/// What a filter of this shape takes.
std::uint64_t memory_bytes(CuckooShape shape);

/// How many fingerprints a shape is made for, and the smallest for so many at an error (as far as
/// kMaxTagBits go).
std::uint64_t capacity(CuckooShape shape);
CuckooShape cuckoo_shape(std::uint64_t fingerprints, double error);

/// Chance that an absent key meets one of `tags` equal ones: 1 - (1 - 2^-tag_bits)^tags. In a full
/// filter there are eight to meet.
double cuckoo_false_positive_rate(unsigned tag_bits, double tags);

/// Fingerprints of a cuckoo filter are numbers too: bucket * 2^tag_bits + tag. No tag is 0.
constexpr std::uint64_t universe(CuckooShape shape) {
    return std::uint64_t{1} << (shape.buckets_log2 + shape.tag_bits);
}
/// Grows with key.high, as fingerprint() does.
std::uint64_t cuckoo_fingerprint(KeyHash key, CuckooShape shape);
constexpr bool is_fingerprint(std::uint64_t number, CuckooShape shape) {
    return number < universe(shape) && (number & ((std::uint64_t{1} << shape.tag_bits) - 1)) != 0;
}

/// A tag that was written: to place number `place` of all, four in each bucket.
struct CuckooWrite {
    std::uint64_t place = 0;
    std::uint64_t tag = 0;  // 0: nothing is there any more

    bool operator==(const CuckooWrite&) const = default;
};

/// A multiset of fingerprints, each in one of two buckets (Fan et al. 2014, partial-key cuckoo
/// hashing): of (bucket, tag) and (other bucket, tag) it cannot tell which was inserted.
/// Memory: tag_bits / 2 bytes for each bucket, up to 95 % full.
///
/// One writer thread; contains() may be called by any thread at any time. Tags that make room are
/// copied to their new place before the old one is taken, the one that moves farthest first, and a
/// version grows in between: a reader that has missed a tag on its way sees that, and looks again.
/// A writer that is held up in the middle holds up nobody. (shared_words.hpp has the order.)
class CuckooFilter {
public:
    /// Holds nothing and takes nothing.
    CuckooFilter() = default;
    /// Precondition: is_valid(shape).
    explicit CuckooFilter(CuckooShape shape);

    CuckooShape shape() const { return shape_; }
    std::uint64_t size() const { return size_; }

    /// Any thread. Precondition, here and below: is_fingerprint(fingerprint, shape()).
    bool contains(std::uint64_t fingerprint) const;

    /// One more of it. False, and nothing changes, when no place was found in kMaxSearched buckets
    /// (there are eight for any one fingerprint). Appends what it writes to `writes`, a tag's new
    /// place always before what comes to its old one.
    bool insert(std::uint64_t fingerprint, std::vector<CuckooWrite>* writes = nullptr);
    /// One less of it. False, and nothing changes, when there is none. Precondition besides: it was
    /// inserted; a false hit would take another key's tag.
    bool erase(std::uint64_t fingerprint, std::vector<CuckooWrite>* writes = nullptr);

    /// Bit by bit what is there, for the writer thread: tag i from bit i * tag_bits on.
    std::span<const std::uint64_t> words() const { return words_; }
    /// The other bucket of a tag.
    static std::uint64_t other_bucket(CuckooShape shape, std::uint64_t bucket, std::uint64_t tag) {
        return bucket ^ (check_term(tag) & ((std::uint64_t{1} << shape.buckets_log2) - 1));
    }

    /// The sum of check_term() over what was inserted and not erased.
    std::uint64_t check_hash() const { return check_; }

    std::uint64_t memory_bytes() const { return words_.size() * sizeof(std::uint64_t); }
    /// When it is of no more use to anybody: gives about so many words back; true at the end.
    bool release(std::uint64_t words);

private:
    static constexpr std::size_t kMaxSearched = 2048;  // buckets that are looked at for room
    static constexpr unsigned kAttempts = 8;           // of a reader

    /// A bucket that the search has reached, by moving a tag of the one before.
    struct Reached {
        std::uint32_t bucket;
        std::uint16_t from;  // index in the search; a root's is its own
        std::uint8_t place;  // of that tag
    };
    using Search = std::array<Reached, kMaxSearched>;

    /// The tag alone says how far its buckets are apart.
    std::uint64_t other(std::uint64_t bucket, std::uint64_t tag) const {
        return other_bucket(shape_, bucket, tag);
    }
    std::size_t word_of(std::uint64_t bucket) const {
        return bucket * kTagsInBucket * shape_.tag_bits / 64;
    }
    std::uint64_t load(std::uint64_t bucket) const;
    std::uint64_t tag_at(std::uint64_t tags, unsigned place) const;
    void store(std::uint64_t bucket, unsigned place, std::uint64_t tag,
               std::vector<CuckooWrite>* writes);
    std::optional<unsigned> place_of(std::uint64_t bucket, std::uint64_t tag) const;
    void settle(const Search& search, std::size_t last, unsigned free, std::uint64_t tag,
                std::vector<CuckooWrite>* writes);

    CuckooShape shape_;
    std::uint64_t tag_mask_ = 0;
    std::uint64_t size_ = 0;
    std::uint64_t check_ = 0;
    std::uint64_t version_ = 0;  // how often a tag has moved
    Words words_;
};

}  // namespace summary
