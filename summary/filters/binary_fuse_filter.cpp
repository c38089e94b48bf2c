#include "summary/filters/binary_fuse_filter.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

namespace summary {
namespace {

/// The parameters of the paper, §3: the least tables for which peeling nearly always succeeds.
std::uint32_t segment_length(unsigned arity, std::size_t keys, unsigned most_bits) {
    const auto log_keys = std::log(static_cast<double>(std::max<std::size_t>(keys, 2)));
    const auto bits = arity == 3 ? std::floor(log_keys / std::log(3.33) + 2.25)
                                 : std::floor(log_keys / std::log(2.91) - 0.5);
    const auto at_least = std::max(bits, 2.0);
    return 1u << static_cast<unsigned>(std::min(at_least, static_cast<double>(most_bits)));
}

double places_per_key(unsigned arity, std::size_t keys) {
    const auto log_keys = std::log(static_cast<double>(std::max<std::size_t>(keys, 2)));
    return arity == 3 ? std::max(1.125, 0.875 + 0.25 * std::log(1e6) / log_keys)
                      : std::max(1.075, 0.77 + 0.305 * std::log(6e5) / log_keys);
}

/// The keys with one place in common, as peeling sees them.
struct FuseCell {
    std::uint64_t hashes = 0;  // XOR
    std::uint8_t numbers = 0;  // XOR of which of its key's places this one is
    std::uint8_t count = 0;
};
constexpr std::uint8_t kMostInCell = 255;

/// The mixed hashes of the keys, ordered by their upper bits, which choose the first segment: the
/// passes over them then stay within a few segments at a time.
std::vector<std::uint64_t> by_segment(std::span<const std::uint64_t> keys, std::uint64_t seed,
                                      std::size_t segments) {
    const auto bits = static_cast<unsigned>(std::bit_width(segments));
    const auto block_of = [bits](std::uint64_t hash) { return (hash >> 1) >> (63 - bits); };
    std::vector<std::uint32_t> next((std::size_t{1} << bits) + 1);
    for (const auto key : keys) ++next[block_of(mix(key + seed)) + 1];
    std::partial_sum(next.begin(), next.end(), next.begin());
    std::vector<std::uint64_t> hashes(keys.size());
    for (const auto key : keys) {
        const auto hash = mix(key + seed);
        hashes[next[block_of(hash)]++] = hash;
    }
    return hashes;
}

/// A key that was the only one at a place, with the number of this place.
struct PeeledKey {
    std::uint64_t hash;
    std::uint8_t number;
};

}  // namespace

template <std::unsigned_integral Fingerprint, unsigned kArity>
BinaryFuseFilter<Fingerprint, kArity>::BinaryFuseFilter(std::size_t keys) : keys_(keys) {
    const auto length = segment_length(kArity, keys, kOffsetBits);
    const auto wanted =
        static_cast<std::size_t>(static_cast<double>(keys) * places_per_key(kArity, keys));
    const auto in_all = (wanted + length - 1) / length;
    const auto first = in_all > kArity - 1 ? in_all - (kArity - 1) : 1;
    segment_mask_ = length - 1;
    first_places_ = static_cast<std::uint32_t>(first * length);
    table_.resize((first + kArity - 1) * length);
}

template <std::unsigned_integral Fingerprint, unsigned kArity>
std::optional<BinaryFuseFilter<Fingerprint, kArity>> BinaryFuseFilter<Fingerprint, kArity>::build(
    std::span<std::uint64_t> keys, std::uint64_t seed, unsigned attempts) {
    if (!std::is_sorted(keys.begin(), keys.end())) std::sort(keys.begin(), keys.end());
    const auto different =
        static_cast<std::size_t>(std::unique(keys.begin(), keys.end()) - keys.begin());
    if (different > kMaxKeys) return std::nullopt;
    if (different == 0) return BinaryFuseFilter();
    BinaryFuseFilter filter(different);
    for (unsigned attempt = 0; attempt < attempts; ++attempt) {
        filter.seed_ = mix(seed + attempt);
        if (filter.fill(keys.first(different))) return filter;
    }
    return std::nullopt;
}

/// One attempt: peels off keys that are alone at a place until none is left, then gives these
/// places their fingerprints in the reverse order.
template <std::unsigned_integral Fingerprint, unsigned kArity>
bool BinaryFuseFilter<Fingerprint, kArity>::fill(std::span<const std::uint64_t> keys) {
    std::vector<FuseCell> cells(table_.size());
    for (const auto hash : by_segment(keys, seed_, table_.size() / (segment_mask_ + 1))) {
        std::uint8_t number = 0;
        for (const auto place : places(hash)) {
            auto& cell = cells[place];
            if (cell.count == kMostInCell) return false;
            ++cell.count;
            cell.hashes ^= hash;
            cell.numbers ^= number++;
        }
    }
    std::vector<std::uint32_t> alone;
    for (std::uint32_t place = 0; place < cells.size(); ++place)
        if (cells[place].count == 1) alone.push_back(place);
    std::vector<PeeledKey> peeled;
    peeled.reserve(keys.size());
    while (!alone.empty()) {
        const auto cell = cells[alone.back()];
        alone.pop_back();
        if (cell.count != 1) continue;  // its key was peeled off elsewhere
        peeled.push_back({cell.hashes, cell.numbers});
        std::uint8_t number = 0;
        for (const auto place : places(cell.hashes)) {
            auto& other = cells[place];
            --other.count;
            other.hashes ^= cell.hashes;
            other.numbers ^= number++;
            if (other.count == 1) alone.push_back(place);
        }
    }
    if (peeled.size() != keys.size()) return false;
    for (auto key = peeled.rbegin(); key != peeled.rend(); ++key) {
        const auto all = places(key->hash);
        auto rest = fingerprint(key->hash);
        for (unsigned i = 0; i < kArity; ++i)
            if (i != key->number) rest ^= table_[all[i]];
        table_[all[key->number]] = rest;
    }
    return true;
}

template class BinaryFuseFilter<std::uint8_t, 3>;
template class BinaryFuseFilter<std::uint8_t, 4>;
template class BinaryFuseFilter<std::uint16_t, 3>;
template class BinaryFuseFilter<std::uint16_t, 4>;

}  // namespace summary
