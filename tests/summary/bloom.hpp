#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <utility>
#include <variant>

#include "summary/coding/bloom_descriptor.hpp"
#include "summary/coding/coding.hpp"
#include "summary/coding/filter.hpp"
#include "summary/directory/replica.hpp"
#include "summary/own/own_bloom_summary.hpp"
#include "summary/sizing/sizing.hpp"
#include "tests/summary/keys.hpp"

/// Helpers for tests of the kind counting_bloom.
namespace summary::test {

inline Descriptor bloom(Shape shape) {
    return descriptor_of(shape);
}

inline BitArray bits_with(std::initializer_list<std::uint64_t> ones, std::uint64_t size) {
    BitArray bits(size);
    for (const auto position : ones) bits.set(position);
    return bits;
}

inline const BitArray& bits_of(const Filter& filter) {
    return std::get<BloomFilter>(filter).bits();
}
inline const BitArray& bits_of(const Replica& replica) {
    return bits_of(replica.filter());
}

/// The filter that holds `count` keys from `first` on.
inline BloomFilter filter_with(std::uint64_t first, std::uint64_t count, Shape shape) {
    BloomFilter filter(shape);
    for (const auto hash : keys(first, count)) filter.insert(hash);
    return filter;
}

/// The chance that a Bloom filter with `objects` keys matches an absent key.
inline double error_of(Shape shape, double objects) {
    return false_positive_rate(static_cast<double>(shape.bits) / objects, shape.hashes);
}

/// Appends the payload of a snapshot.
inline void append_snapshot(const BitArray& bits, Bytes& out) {
    SnapshotEncoder encoder(bits, bits.count_ones(), out);
    while (!encoder.step(bits.words().size())) continue;
}
inline Bytes payload_of(const BitArray& bits) {
    Bytes payload;
    append_snapshot(bits, payload);
    return payload;
}

/// The bits of a snapshot's payload; nothing when the decoder refuses it.
inline std::optional<BitArray> bits_in(std::span<const std::byte> payload, std::uint64_t bits) {
    SnapshotDecoder decoder(bits);
    if (!decoder.take(payload)) return std::nullopt;
    return decoder.finish();
}

/// The present bits, copied as for a snapshot.
inline BitArray bits_of(OwnBloomSummary& own) {
    OwnBloomSummary::CopiedBits copy(own);
    while (!copy.step(own, own.shape().bits)) continue;
    return copy.bits();
}

inline void regrow(OwnBloomSummary& own) {
    own.begin_regrow();
    while (!own.grow_some(kNoLimit)) continue;
}

inline Bytes payload_of(const Delta& delta, std::uint64_t bits) {
    Bytes payload;
    encode_delta(delta, bits, payload);
    return payload;
}

}  // namespace summary::test
