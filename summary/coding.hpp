#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "summary/bit_array.hpp"
#include "summary/delta.hpp"
#include "summary/rice.hpp"
#include "summary/shape.hpp"

/// Summaries and their changes as bytes; the format is in summary/FORMAT.md. Shape, epoch and
/// generation travel beside them, in the frames of protocol/. Encoders append to `out`. Decoders
/// trust nothing: they read no further than the bytes given, allocate no more than those bytes (or
/// the shape, which the caller has accepted) can fill, and take only what the format allows:
/// ascending positions below `bits`, nothing left over.
namespace summary {

using Bytes = std::vector<std::byte>;

/// The first byte of a payload.
enum class Coding : std::uint8_t {
    delta = 1,
    raw_snapshot = 2,
    rice_snapshot = 3,
    ranked_delta = 4,  // this and what follows: summary/fingerprint_coding.hpp
    fingerprint_delta = 5,
    fingerprint_snapshot = 6,
};

/// For a filter of so many bits. Precondition: is_valid(delta, bits).
void encode_delta(const Delta& delta, std::uint64_t bits, Bytes& out);
/// Appends the delta, or the snapshot when that is smaller. Returns the coding that it has chosen.
Coding encode_update(const Delta& delta, const BitArray& snapshot, Bytes& out);

/// Writes a snapshot in steps of about equal time: raw words, or the Rice-coded positions of the
/// ones when those are smaller.
class SnapshotEncoder {
public:
    /// `snapshot` must stay as it is until this is done, and has `ones`.
    SnapshotEncoder(const BitArray& snapshot, std::uint64_t ones, Bytes& out);

    /// Takes the next `words` words; true when all is done.
    bool step(std::size_t words);

private:
    void begin_raw();

    const BitArray& snapshot_;
    Bytes& out_;
    std::size_t start_;
    std::optional<RiceWriter> writer_;  // none: words as they are
    std::size_t next_ = 0;              // word
};

/// A snapshot's payload, piece by piece as it arrives. The memory of its bits is taken as they are
/// set.
class SnapshotDecoder {
public:
    explicit SnapshotDecoder(std::uint64_t bits) : bits_(bits) {}

    /// False when this is no snapshot: it is of no more use then.
    bool take(std::span<const std::byte> piece);
    /// When all pieces were taken: the bits, or nothing when something is missing or left over.
    std::optional<BitArray> finish();

private:
    bool take_head(std::span<const std::byte>& piece);
    bool take_words(std::span<const std::byte>& piece);
    bool take_codes(std::span<const std::byte>& piece);

    BitArray bits_;
    Bytes head_;  // coding, count and parameter, until they are complete
    bool raw_ = false;
    bool begun_ = false;
    std::uint64_t missing_ = 0;  // ones, or bytes of words
    RiceStream codes_;
    std::uint64_t word_ = 0;  // of which some bytes have come
};

/// Nothing when the bytes are not a payload of this kind for a filter of so many bits.
std::optional<Delta> decode_delta(std::span<const std::byte> payload, std::uint64_t bits);

/// What a snapshot of so many bits takes at most, in bytes: for limits on frames.
constexpr std::uint64_t max_snapshot_bytes(std::uint64_t bits) {
    return 1 + (bits + 63) / 64 * 8;
}

}  // namespace summary
