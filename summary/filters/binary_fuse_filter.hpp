#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "summary/sizing/key_hash.hpp"

namespace summary {

/// A set of 64-bit hashes that never changes: a binary fuse filter. Each key has `kArity` places in
/// neighbouring segments of one table, and the fingerprints there XOR to its own. The table takes
/// 1.075 fingerprints per key for many keys (four places), and 1.12 for a hundred thousand. Keys of
/// the set are always found; another one is found with the probability kError.
///
/// The hashes need not be uniform, as the filter mixes them with its seed. Only a secret hash
/// function prevents crafted false positives. Any number of threads may read a filter.
/// Source: Graf, Lemire: Binary Fuse Filters, ACM JEA 27, 2022.
template <std::unsigned_integral Fingerprint, unsigned kArity = 4>
class BinaryFuseFilter {
    static_assert(kArity == 3 || kArity == 4);

public:
    static constexpr std::size_t kMaxKeys = std::size_t{1} << 28;
    static constexpr unsigned kMaxAttempts = 100;  // each fails about once in a hundred times
    static constexpr double kError = 1.0 / (std::uint64_t{1} << (8 * sizeof(Fingerprint)));

    /// A filter of no keys, which finds nothing.
    BinaryFuseFilter() = default;

    /// Builds the filter of `keys`. The span comes back sorted, with its different keys first. The
    /// same keys and seed always give the same filter. The work takes 40 bytes per key besides.
    /// Returns nothing if there are too many keys, or if every attempt fails.
    static std::optional<BinaryFuseFilter> build(std::span<std::uint64_t> keys, std::uint64_t seed,
                                                 unsigned attempts = kMaxAttempts);

    /// Asks the memory for the places of `key` and does not wait, so that contains() of several
    /// keys afterwards takes about the time of one.
    void prefetch(std::uint64_t key) const {
        if (table_.empty()) return;
        for (const auto place : places(mix(key + seed_))) __builtin_prefetch(&table_[place]);
    }

    bool contains(std::uint64_t key) const {
        if (table_.empty()) return false;
        const auto hash = mix(key + seed_);
        auto rest = fingerprint(hash);
        for (const auto place : places(hash)) rest ^= table_[place];
        return rest == 0;
    }

    std::size_t keys() const { return keys_; }
    /// Bytes of the table.
    std::size_t bytes() const { return table_.size() * sizeof(Fingerprint); }

private:
    static constexpr unsigned kOffsetBits = 18;  // of a place within its segment, at most

    explicit BinaryFuseFilter(std::size_t keys);

    static Fingerprint fingerprint(std::uint64_t hash) {
        return static_cast<Fingerprint>(hash ^ (hash >> 32));
    }
    std::array<std::uint32_t, kArity> places(std::uint64_t hash) const {
        // The upper bits choose the first segment, the others a place in each.
        const auto first =
            static_cast<std::uint32_t>((static_cast<__uint128_t>(hash) * first_places_) >> 64);
        std::array<std::uint32_t, kArity> all;
        all[0] = first;
        for (unsigned i = 1; i < kArity; ++i)
            all[i] = (first + i * (segment_mask_ + 1)) ^
                     (static_cast<std::uint32_t>(hash >> (kOffsetBits * (kArity - 1 - i))) &
                      segment_mask_);
        return all;
    }
    bool fill(std::span<const std::uint64_t> keys);

    std::uint64_t seed_ = 0;
    std::uint32_t segment_mask_ = 0;  // the length of a segment, a power of two, less one
    std::uint32_t first_places_ = 0;  // all places but those of the last kArity - 1 segments
    std::size_t keys_ = 0;
    std::vector<Fingerprint> table_;
};

extern template class BinaryFuseFilter<std::uint8_t, 3>;
extern template class BinaryFuseFilter<std::uint8_t, 4>;
extern template class BinaryFuseFilter<std::uint16_t, 3>;
extern template class BinaryFuseFilter<std::uint16_t, 4>;

}  // namespace summary
