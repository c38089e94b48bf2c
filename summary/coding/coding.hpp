#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "summary/bits/bit_array.hpp"
#include "summary/bits/rice.hpp"
#include "summary/filters/delta.hpp"
#include "summary/sizing/shape.hpp"

/// Summaries and their changes as bytes; summary/FORMAT.md has the format. Shape, epoch and
/// generation travel beside them, in the frames of protocol/. Encoders append to `out`. Decoders
/// treat their input as hostile. They read only the given bytes, allocate at most as much as those
/// bytes or the accepted shape can fill, and demand ascending positions below `bits` up to the last
/// byte.
namespace summary {

using Bytes = std::vector<std::byte>;

/// The first byte of a payload.
enum class Coding : std::uint8_t {
    delta = 1,
    raw_snapshot = 2,
    rice_snapshot = 3,
    ranked_delta = 4,  // from here on see summary/coding/fingerprint_coding.hpp
    fingerprint_delta = 5,
    fingerprint_snapshot = 6,
};

/// Takes the first byte off a payload if it is `coding`; else false.
inline bool take_coding(Coding coding, std::span<const std::byte>& payload) {
    if (payload.empty() || payload.front() != static_cast<std::byte>(coding)) return false;
    payload = payload.subspan(1);
    return true;
}

/// Encodes a delta for a filter of `bits` bits. Precondition: is_valid(delta, bits).
void encode_delta(const Delta& delta, std::uint64_t bits, Bytes& out);
/// Appends the delta, or the snapshot when that is smaller. Returns the coding that it has chosen.
Coding encode_update(const Delta& delta, const BitArray& snapshot, Bytes& out);

/// Writes a snapshot in steps of about equal time: raw words, or the Rice-coded positions of the
/// ones when those are smaller.
class SnapshotEncoder {
public:
    /// `snapshot` has `ones` ones, and must stay unchanged until the last step.
    SnapshotEncoder(const BitArray& snapshot, std::uint64_t ones, Bytes& out);

    /// Encodes the next `words` words. Returns true after the last one.
    bool step(std::size_t words);

private:
    void begin_raw();

    const BitArray& snapshot_;
    Bytes& out_;
    std::size_t start_;
    std::optional<RiceWriter> writer_;  // empty: raw words
    std::size_t next_ = 0;              // next word
};

/// Decodes a snapshot's payload piece by piece as it arrives. The bit array takes memory as its
/// bits are set.
class SnapshotDecoder {
public:
    explicit SnapshotDecoder(std::uint64_t bits) : bits_(bits) {}

    /// Returns false when the payload is invalid; the decoder is then useless.
    bool take(std::span<const std::byte> piece);
    /// Call it after the last piece. Returns the bits, or nullopt when bytes are missing or left
    /// over.
    std::optional<BitArray> finish();

private:
    bool take_head(std::span<const std::byte>& piece);
    bool take_words(std::span<const std::byte>& piece);
    bool take_codes(std::span<const std::byte>& piece);

    BitArray bits_;
    Bytes head_;  // coding, count and parameter, until they are complete
    bool raw_ = false;
    bool begun_ = false;
    std::uint64_t missing_ = 0;  // ones, or bytes of raw words
    RiceStream codes_;
    std::uint64_t word_ = 0;  // the word that has arrived in part
};

/// Returns nullopt when the bytes are something else than a delta for a filter of `bits` bits.
std::optional<Delta> decode_delta(std::span<const std::byte> payload, std::uint64_t bits);

/// The largest size of a snapshot of `bits` bits in bytes, for limits on frames.
constexpr std::uint64_t max_snapshot_bytes(std::uint64_t bits) {
    return 1 + (bits + 63) / 64 * 8;
}

}  // namespace summary
