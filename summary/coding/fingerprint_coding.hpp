#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "summary/bits/rice.hpp"
#include "summary/coding/coding.hpp"
#include "summary/filters/cuckoo_filter.hpp"
#include "summary/filters/quotient_filter.hpp"

/// Sets of fingerprints and their changes as bytes; summary/FORMAT.md has the format. As in
/// summary/coding/coding.hpp, encoders append to `out`, and decoders treat their input as hostile.
namespace summary {

/// The changes of a multiset since the last announcement. Both lists ascend, may repeat numbers,
/// and are disjoint. In contrast to a delta of bits, it must be applied once, and to exactly the
/// state to which it refers.
struct FingerprintDelta {
    std::vector<std::uint64_t> added;
    std::vector<std::uint64_t> removed;

    bool empty() const { return added.empty() && removed.empty(); }
    bool operator==(const FingerprintDelta&) const = default;
};

/// True when both lists ascend, stay below the universe and are disjoint.
bool is_valid(const FingerprintDelta& delta, std::uint64_t universe);

/// For a receiver that keeps the multiset in order. The delta names each removed fingerprint by its
/// rank among the `objects` earlier ones, which saves log2(universe / objects) bits for each.
/// Preconditions: `added` ascends; `ranks` ascend strictly and are below `objects`.
void encode_ranked_delta(std::span<const std::uint64_t> added, std::span<const std::uint64_t> ranks,
                         std::uint64_t universe, std::uint64_t objects, Bytes& out);
/// For any receiver. Precondition: is_valid(delta, universe).
void encode_fingerprint_delta(const FingerprintDelta& delta, std::uint64_t universe, Bytes& out);

/// A delta with the removed fingerprints still given by their ranks.
struct RankedDelta {
    std::vector<std::uint64_t> added;
    std::vector<std::uint64_t> ranks;
};
/// Returns nullopt when the bytes are something else than a delta of `objects` fingerprints.
std::optional<RankedDelta> decode_ranked_delta(std::span<const std::byte> payload,
                                               std::uint64_t universe, std::uint64_t objects);
/// Replaces each rank by the fingerprint at(rank). Returns nullopt for a delta that contradicts
/// itself.
template <class At>
std::optional<FingerprintDelta> resolve(RankedDelta delta, std::uint64_t universe, At at) {
    FingerprintDelta result{std::move(delta.added), std::move(delta.ranks)};
    for (auto& rank : result.removed) rank = at(rank);
    if (!is_valid(result, universe)) return std::nullopt;
    return result;
}
/// Does both. Returns nullopt when the bytes are something else than a delta of `before`.
std::optional<FingerprintDelta> decode_ranked_delta(std::span<const std::byte> payload,
                                                    const QuotientFilter& before);
std::optional<FingerprintDelta> decode_fingerprint_delta(std::span<const std::byte> payload,
                                                         std::uint64_t universe);

/// Returns false when a fingerprint to be removed is absent, or when one to be added finds too
/// little room; the filter is then useless. Precondition: is_valid() with the filter's universe,
/// and for a cuckoo filter is_fingerprint() for each number.
bool apply(const FingerprintDelta& delta, QuotientFilter& filter);
bool apply(const FingerprintDelta& delta, CuckooFilter& filter,
           std::vector<CuckooWrite>* writes = nullptr);

/// Writes a snapshot fingerprint by fingerprint.
class FingerprintSnapshotEncoder {
public:
    /// Expects exactly `count` fingerprints. Takes all memory at once, since growing would copy it
    /// repeatedly. `out` must stay in place.
    FingerprintSnapshotEncoder(std::uint64_t universe, std::uint64_t count, Bytes& out);

    /// Precondition: the fingerprint is below the universe and at least as large as the one before.
    void append(std::uint64_t fingerprint) { writer_.append(fingerprint + index_++); }
    /// Call it after the last fingerprint.
    void finish() { writer_.finish(); }

private:
    RiceWriter begin(std::uint64_t universe, std::uint64_t count, Bytes& out);

    RiceWriter writer_;
    std::uint64_t index_ = 0;
};

/// Reads a snapshot's payload piece by piece as it arrives. The size of a piece bounds its work.
class FingerprintSnapshotReader {
public:
    FingerprintSnapshotReader(std::uint64_t universe, std::uint64_t max_count)
        : universe_(universe), max_count_(max_count) {}

    /// Calls begin(count) once, then visit(fingerprint) for each fingerprint in ascending order;
    /// both may return false to stop. Returns false then, and when the payload is invalid; the
    /// reader is useless afterwards.
    template <class Begin, class Visit>
    bool take(std::span<const std::byte> piece, Begin begin, Visit visit) {
        while (!begun_ && !piece.empty()) {
            if (!take_head(piece) || (begun_ && !begin(missing_))) return false;
        }
        for (; begun_ && missing_ > 0; --missing_, ++index_) {
            std::uint64_t position = 0;
            const auto step = codes_.next(piece, position);
            if (step == RiceStream::Step::more) return true;
            if (step == RiceStream::Step::malformed || position < index_ ||
                position - index_ >= universe_ || !visit(position - index_)) {
                return false;
            }
        }
        return piece.empty();
    }
    /// Call it after the last piece. True when the snapshot is complete and ends there.
    bool complete() const { return begun_ && missing_ == 0 && codes_.at_end(); }

private:
    bool take_head(std::span<const std::byte>& piece);

    std::uint64_t universe_;
    std::uint64_t max_count_;
    Bytes head_;  // coding, count and parameter, until they are complete
    bool begun_ = false;
    std::uint64_t missing_ = 0;
    std::uint64_t index_ = 0;
    RiceStream codes_;
};

/// Decoders that build the filter of a snapshot. Precondition: is_valid(shape).
class QuotientSnapshotDecoder {
public:
    explicit QuotientSnapshotDecoder(const QuotientShape& shape)
        : shape_(shape), reader_(shape.universe, kMaxFingerprints) {}

    /// Returns false when the payload is invalid for the shape; the decoder is then useless.
    bool take(std::span<const std::byte> piece);
    /// Call it after the last piece. Returns nullopt when bytes are missing or left over.
    std::optional<QuotientFilter> finish();

private:
    QuotientShape shape_;
    FingerprintSnapshotReader reader_;
    std::optional<QuotientFilter::Builder> builder_;
};

class CuckooSnapshotDecoder {
public:
    explicit CuckooSnapshotDecoder(CuckooShape shape)
        : reader_(universe(shape), std::uint64_t{kTagsInBucket} << shape.buckets_log2),
          filter_(shape) {}

    bool take(std::span<const std::byte> piece);
    std::optional<CuckooFilter> finish();

private:
    FingerprintSnapshotReader reader_;
    CuckooFilter filter_;
};

}  // namespace summary
