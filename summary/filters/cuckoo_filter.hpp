#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "summary/bits/words.hpp"
#include "summary/sizing/fingerprint.hpp"

namespace summary {

/// The size of a cuckoo filter: 2^buckets_log2 buckets of four tags. With a power of two, each of a
/// tag's two buckets leads to the other.
struct CuckooShape {
    unsigned buckets_log2 = 0;
    unsigned tag_bits = 0;

    bool operator==(const CuckooShape&) const = default;
};

inline constexpr unsigned kTagsInBucket = 4;
inline constexpr unsigned kMinTagBits = 4;
inline constexpr unsigned kMaxTagBits = 16;  // a bucket is one word at most
inline constexpr unsigned kMaxBucketsLog2 = 28;
inline constexpr double kMaxCuckooLoad = 0.95;  // above it the search for room grows long

/// Returns false for shapes that the filter refuses. Call it for every received shape.
constexpr bool is_valid(CuckooShape shape) {
    return shape.buckets_log2 <= kMaxBucketsLog2 && shape.tag_bits >= kMinTagBits &&
           shape.tag_bits <= kMaxTagBits &&
           (kMaxUniverse >> shape.buckets_log2 >> shape.tag_bits) != 0;
}

/// Memory of a filter of this shape.
std::uint64_t memory_bytes(CuckooShape shape);

/// The number of fingerprints that a shape is made for, and the smallest shape for `fingerprints`
/// at an error (as far as kMaxTagBits allows).
std::uint64_t capacity(CuckooShape shape);
CuckooShape cuckoo_shape(std::uint64_t fingerprints, double error);

/// The chance that an absent key meets one of `tags` equal ones: 1 - (1 - 2^-tag_bits)^tags. A
/// look-up in a full filter compares eight tags.
double cuckoo_false_positive_rate(unsigned tag_bits, double tags);

/// Fingerprints of a cuckoo filter are numbers too: bucket * 2^tag_bits + tag. Tags start at 1.
constexpr std::uint64_t universe(CuckooShape shape) {
    return std::uint64_t{1} << (shape.buckets_log2 + shape.tag_bits);
}
/// Grows with key.high, as fingerprint() does.
std::uint64_t cuckoo_fingerprint(KeyHash key, CuckooShape shape);
constexpr bool is_fingerprint(std::uint64_t number, CuckooShape shape) {
    return number < universe(shape) && (number & ((std::uint64_t{1} << shape.tag_bits) - 1)) != 0;
}

/// A tag written to place number `place`; each bucket has four places.
struct CuckooWrite {
    std::uint64_t place = 0;
    std::uint64_t tag = 0;  // 0: the place is empty now

    bool operator==(const CuckooWrite&) const = default;
};

/// A multiset of fingerprints, each in one of two buckets (Fan et al. 2014, partial-key cuckoo
/// hashing). The filter treats (bucket, tag) and (other bucket, tag) as the same fingerprint.
/// Memory: tag_bits / 2 bytes for each bucket; the filter takes fingerprints up to 95 % of its
/// places.
///
/// One writer thread; any thread may call contains() at any time. The writer copies a tag to its
/// new place before it reuses the old one, begins with the tag that moves farthest, and increments
/// a version in between. A reader that missed a moving tag sees the new version and looks again.
/// Readers never wait for the writer. shared_words.hpp has the memory order.
class CuckooFilter {
public:
    /// A filter without places.
    CuckooFilter() = default;
    /// Precondition: is_valid(shape).
    explicit CuckooFilter(CuckooShape shape);

    CuckooShape shape() const { return shape_; }
    std::uint64_t size() const { return size_; }

    /// Any thread. Precondition, here and below: is_fingerprint(fingerprint, shape()).
    bool contains(std::uint64_t fingerprint) const;

    /// Adds one fingerprint. Returns false and leaves the filter unchanged when kMaxSearched
    /// buckets have no free place (there are eight places for any one fingerprint). Appends the
    /// written tags to `writes`; a tag's new place comes before the reuse of its old one.
    bool insert(std::uint64_t fingerprint, std::vector<CuckooWrite>* writes = nullptr);
    /// Removes one fingerprint. Returns false and leaves the filter unchanged when it is absent.
    /// Precondition: it was inserted; a false hit would remove another key's tag.
    bool erase(std::uint64_t fingerprint, std::vector<CuckooWrite>* writes = nullptr);

    /// The tags bit by bit, for the writer thread: tag i begins at bit i * tag_bits.
    std::span<const std::uint64_t> words() const { return words_; }
    /// The other bucket of a tag.
    static std::uint64_t other_bucket(CuckooShape shape, std::uint64_t bucket, std::uint64_t tag) {
        return bucket ^ (check_term(tag) & ((std::uint64_t{1} << shape.buckets_log2) - 1));
    }

    /// The sum of check_term() over the fingerprints that are present.
    std::uint64_t check_hash() const { return check_; }

    std::uint64_t memory_bytes() const { return words_.size() * sizeof(std::uint64_t); }

private:
    static constexpr std::size_t kMaxSearched = 2048;  // buckets searched for a free place
    static constexpr unsigned kAttempts = 8;           // attempts of a reader

    /// A bucket that the search reaches by moving a tag of an earlier bucket.
    struct ReachedBucket {
        std::uint32_t bucket;
        std::uint16_t from;  // index in the search; a root refers to itself
        std::uint8_t place;  // place of that tag
    };
    using Search = std::array<ReachedBucket, kMaxSearched>;

    /// The tag alone determines the distance of its buckets.
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
    std::uint64_t version_ = 0;  // number of tags moved
    Words words_;
};

}  // namespace summary
