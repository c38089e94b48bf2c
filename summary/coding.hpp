#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "summary/bit_array.hpp"
#include "summary/delta.hpp"
#include "summary/shape.hpp"

/// Summaries and their changes as bytes; the format is in summary/FORMAT.md. Shape, epoch and
/// generation travel beside them, in the frames of protocol/. Encoders append to `out`. Decoders
/// trust nothing: they read no further than the bytes given, allocate no more than those bytes (or
/// the shape, which the caller has accepted) can fill, and take only what the format allows:
/// ascending positions below `bits`, nothing left over.
namespace summary {

using Bytes = std::vector<std::byte>;

/// The first byte of a payload.
enum class Coding : std::uint8_t { delta = 1, raw_snapshot = 2, rice_snapshot = 3 };

/// For a filter of so many bits. Precondition: is_valid(delta, bits).
void encode_delta(const Delta& delta, std::uint64_t bits, Bytes& out);
/// Raw words, or the Rice-coded positions of the ones when that is smaller.
void encode_snapshot(const BitArray& snapshot, Bytes& out);
/// The delta, or the snapshot when that is smaller (`delta` null: the snapshot).
Coding encode_update(const Delta* delta, const BitArray& snapshot, Bytes& out);

using Update = std::variant<Delta, BitArray>;

/// Nothing when the bytes are not a payload of this kind for a filter of so many bits.
std::optional<Delta> decode_delta(std::span<const std::byte> payload, std::uint64_t bits);
std::optional<BitArray> decode_snapshot(std::span<const std::byte> payload, std::uint64_t bits);
std::optional<Update> decode_update(std::span<const std::byte> payload, std::uint64_t bits);

/// What a snapshot of so many bits takes at most, in bytes: for limits on frames.
constexpr std::uint64_t max_snapshot_bytes(std::uint64_t bits) {
    return 1 + (bits + 63) / 64 * 8;
}

}  // namespace summary
