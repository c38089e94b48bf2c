#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "summary/coding.hpp"
#include "summary/cuckoo_filter.hpp"
#include "summary/quotient_filter.hpp"
#include "summary/rice.hpp"

/// Sets of fingerprints and their changes as bytes; the format is in summary/FORMAT.md. As in
/// summary/coding.hpp, encoders append to `out`, and decoders trust nothing.
namespace summary {

/// What became of a multiset since the last announcement: both ascend, may repeat, and have nothing
/// in common. Unlike a delta of bits it must be applied once, and to the very state it is about.
struct FingerprintDelta {
    std::vector<std::uint64_t> added;
    std::vector<std::uint64_t> removed;

    bool empty() const { return added.empty() && removed.empty(); }
    bool operator==(const FingerprintDelta&) const = default;
};

/// Ascend both, stay below the universe, and have nothing in common?
bool is_valid(const FingerprintDelta& delta, std::uint64_t universe);

/// For a receiver that keeps the multiset in order: what goes is told by its ranks among the
/// `objects` there were, which takes log2(universe / objects) bits less for each than telling the
/// fingerprint. Precondition: `added` ascends, `ranks` ascend strictly and are below `objects`.
void encode_ranked_delta(std::span<const std::uint64_t> added, std::span<const std::uint64_t> ranks,
                         std::uint64_t universe, std::uint64_t objects, Bytes& out);
/// For any receiver. Precondition: is_valid(delta, universe).
void encode_fingerprint_delta(const FingerprintDelta& delta, std::uint64_t universe, Bytes& out);

/// A delta whose removed fingerprints are told by their ranks, not resolved yet.
struct RankedDelta {
    std::vector<std::uint64_t> added;
    std::vector<std::uint64_t> ranks;
};
/// Nothing when the bytes are not such a payload, or not one about so many objects.
std::optional<RankedDelta> decode_ranked_delta(std::span<const std::byte> payload,
                                               std::uint64_t universe, std::uint64_t objects);
/// What it means for a multiset whose fingerprint of a rank is at(rank). Nothing when it
/// contradicts itself.
template <class At>
std::optional<FingerprintDelta> resolve(RankedDelta delta, std::uint64_t universe, At at) {
    FingerprintDelta result{std::move(delta.added), std::move(delta.ranks)};
    for (auto& rank : result.removed) rank = at(rank);
    if (!is_valid(result, universe)) return std::nullopt;
    return result;
}
/// Both at once. Nothing when the bytes are not such a payload, or not one about `before`.
std::optional<FingerprintDelta> decode_ranked_delta(std::span<const std::byte> payload,
                                                    const QuotientFilter& before);
std::optional<FingerprintDelta> decode_fingerprint_delta(std::span<const std::byte> payload,
                                                         std::uint64_t universe);

/// False, and the filter is of no more use, when something to be removed is not there or something
/// to be added finds no room. Precondition: is_valid() with the filter's universe (and for a cuckoo
/// filter is_fingerprint() for each).
bool apply(const FingerprintDelta& delta, QuotientFilter& filter);
bool apply(const FingerprintDelta& delta, CuckooFilter& filter,
           std::vector<CuckooWrite>* writes = nullptr);

/// A snapshot, written fingerprint by fingerprint as its owner comes to them.
class FingerprintSnapshotEncoder {
public:
    /// Exactly `count` will come. Takes the memory at once, as growing would copy it again and
    /// again; `out` must stay.
    FingerprintSnapshotEncoder(std::uint64_t universe, std::uint64_t count, Bytes& out);

    /// Precondition: below the universe, and not less than the one before.
    void append(std::uint64_t fingerprint) { writer_.append(fingerprint + index_++); }
    /// After the last.
    void finish() { writer_.finish(); }

private:
    RiceWriter begin(std::uint64_t universe, std::uint64_t count, Bytes& out);

    RiceWriter writer_;
    std::uint64_t index_ = 0;
};

/// A snapshot's payload, piece by piece as it arrives: what a piece takes is bounded by its size.
class FingerprintSnapshotReader {
public:
    FingerprintSnapshotReader(std::uint64_t universe, std::uint64_t max_count)
        : universe_(universe), max_count_(max_count) {}

    /// Calls begin(count) once, then visit(fingerprint) for each, ascending; either may answer
    /// false, which ends it. False when this is no snapshot: it is of no more use then.
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
    /// When all pieces were taken: nothing is missing or left over.
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

/// The filters that a snapshot makes. Precondition: is_valid(shape).
class QuotientSnapshotDecoder {
public:
    explicit QuotientSnapshotDecoder(const QuotientShape& shape)
        : shape_(shape), reader_(shape.universe, kMaxFingerprints) {}

    /// False when this is no snapshot for the shape: it is of no more use then.
    bool take(std::span<const std::byte> piece);
    /// When all pieces were taken; nothing when something is missing or left over.
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
