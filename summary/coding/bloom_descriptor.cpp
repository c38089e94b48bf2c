#include "summary/coding/bloom_descriptor.hpp"

#include <algorithm>
#include <array>
#include <cassert>

#include "summary/coding/coding.hpp"
#include "summary/sizing/sizing.hpp"

namespace summary {

namespace {

constexpr std::size_t kBitsBytes = 8;
constexpr std::size_t kBytes = 1 + kBitsBytes + 1;  // kind, bits, hashes
static_assert(kBytes <= kMaxDescriptorBytes);

/// A full filter on the ladder has at most 58 bits per object. It is left when a quarter of it is
/// used, so a filter has fewer bits per object than this (sizing.hpp).
constexpr std::uint64_t kMostBitsPerObject = 512;
constexpr std::uint64_t kBloomSlack = 64;

}  // namespace

Descriptor descriptor_of(Shape shape) {
    assert(is_valid(shape));
    std::array<std::byte, kBytes> bytes;
    bytes.front() = static_cast<std::byte>(Kind::counting_bloom);
    for (std::size_t i = 0; i < kBitsBytes; ++i) {
        bytes[1 + i] = static_cast<std::byte>(shape.bits >> (8 * (kBitsBytes - 1 - i)));
    }
    bytes.back() = static_cast<std::byte>(shape.hashes);
    return *Descriptor::from(bytes);
}

std::optional<Shape> shape_of(const Descriptor& of) {
    const auto bytes = of.bytes();
    if (bytes.size() != kBytes || of.kind() != Kind::counting_bloom) {
        return std::nullopt;
    }
    Shape shape;
    for (const auto byte : bytes.subspan(1, kBitsBytes)) {
        shape.bits = shape.bits << 8 | std::to_integer<std::uint64_t>(byte);
    }
    shape.hashes = std::to_integer<unsigned>(bytes.back());
    if (!is_valid(shape)) return std::nullopt;
    return shape;
}

std::uint64_t replica_bytes(Shape shape) {
    return (shape.bits + 7) / 8;
}

/// Each object costs more than one bit of payload in any filter, or the payload has a bit for every
/// second bit of the filter. So a sender has to send a byte for each 512 bytes of memory.
DescriptorVerdict judge_snapshot(Shape shape, std::uint64_t objects, std::uint64_t payload_bytes) {
    if (shape.bits / kMostBitsPerObject > std::max(objects, kMinObjects))
        return DescriptorVerdict::too_large;
    if (payload_bytes + kBloomSlack < std::min(objects, shape.bits / 2) / 8) {
        return DescriptorVerdict::too_large;
    }
    return payload_bytes > max_snapshot_bytes(shape.bits) ? DescriptorVerdict::malformed
                                                          : DescriptorVerdict::accepted;
}

}  // namespace summary
