#include "summary/coding/fingerprint_descriptor.hpp"

#include <algorithm>
#include <vector>

#include "summary/sizing/sizing.hpp"

namespace summary {

namespace {

constexpr std::size_t kNumberBytes = 8;
constexpr std::size_t kQuotientBytes = 1 + 2 * kNumberBytes;  // kind, universe, capacity
constexpr std::size_t kCuckooBytes = 1 + 1 + 1;               // kind, buckets, tag bits
static_assert(kQuotientBytes <= kMaxDescriptorBytes);

/// A shape is left when a quarter of it is used, so a shape with much more room is implausible.
/// Cuckoo filters come in powers of two.
constexpr std::uint64_t kMostRoom = 16;
constexpr std::uint64_t kFingerprintSlack = 64;
constexpr std::uint64_t kMostBytesEach = 8;  // of a payload, for each of the capacity

void append_number(std::uint64_t number, std::vector<std::byte>& out) {
    for (std::size_t i = 0; i < kNumberBytes; ++i) {
        out.push_back(static_cast<std::byte>(number >> (8 * (kNumberBytes - 1 - i))));
    }
}

std::uint64_t take_number(std::span<const std::byte> bytes) {
    std::uint64_t number = 0;
    for (const auto byte : bytes.first(kNumberBytes)) {
        number = number << 8 | std::to_integer<std::uint64_t>(byte);
    }
    return number;
}

constexpr bool is_of(std::span<const std::byte> bytes, Kind kind, std::size_t size) {
    return bytes.size() == size && bytes.front() == static_cast<std::byte>(kind);
}

}  // namespace

Descriptor descriptor_of(const FingerprintShape& shape) {
    std::vector<std::byte> bytes;
    if (const auto* const quotient = std::get_if<QuotientShape>(&shape)) {
        bytes.push_back(static_cast<std::byte>(Kind::quotient));
        append_number(quotient->universe, bytes);
        append_number(quotient->capacity, bytes);
    } else {
        const auto cuckoo = std::get<CuckooShape>(shape);
        bytes.push_back(static_cast<std::byte>(Kind::cuckoo));
        bytes.push_back(static_cast<std::byte>(cuckoo.buckets_log2));
        bytes.push_back(static_cast<std::byte>(cuckoo.tag_bits));
    }
    return *Descriptor::from(bytes);
}

std::optional<FingerprintShape> fingerprint_shape_of(const Descriptor& of) {
    const auto bytes = of.bytes();
    if (is_of(bytes, Kind::quotient, kQuotientBytes)) {
        const auto universe = take_number(bytes.subspan(1));
        const auto capacity = take_number(bytes.subspan(1 + kNumberBytes));
        if (universe == 0 || universe > kMaxUniverse || universe % kUniverseUnit != 0 ||
            capacity == 0 || capacity > kMaxFingerprints) {
            return std::nullopt;
        }
        const auto shape = quotient_shape(universe, capacity);
        if (is_valid(shape)) return shape;
    } else if (is_of(bytes, Kind::cuckoo, kCuckooBytes)) {
        const CuckooShape shape{std::to_integer<unsigned>(bytes[1]),
                                std::to_integer<unsigned>(bytes[2])};
        if (is_valid(shape) && shape.buckets_log2 >= kKeyShardsLog2) return shape;
    }
    return std::nullopt;
}

std::uint64_t replica_bytes(const FingerprintShape& shape) {
    return std::visit([](const auto& kind) { return memory_bytes(kind); }, shape);
}

/// As judge_snapshot() of Bloom filters: a sender has to send bytes for the memory that it demands,
/// and the payload is at most as long as a valid one.
DescriptorVerdict judge_snapshot(const FingerprintShape& shape, std::uint64_t objects,
                                 std::uint64_t payload_bytes) {
    const auto room = capacity(shape);
    if (room / kMostRoom > std::max(objects, kMinObjects)) return DescriptorVerdict::too_large;
    if (payload_bytes + kFingerprintSlack < std::min(objects, room) / 8)
        return DescriptorVerdict::too_large;
    const auto most = kMostBytesEach * (room + room / 8) + 2 * kFingerprintSlack;
    return payload_bytes > most ? DescriptorVerdict::malformed : DescriptorVerdict::accepted;
}

}  // namespace summary
