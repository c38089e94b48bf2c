#pragma once

#include <cstdint>
#include <optional>
#include <variant>

#include "summary/descriptor.hpp"
#include "summary/fingerprint_shape.hpp"

/// The descriptors of the kinds quotient (universe and capacity, 8 bytes each) and cuckoo (the
/// logarithm of the buckets, and tag bits, 1 byte each), and what they cost; see summary/FORMAT.md.
namespace summary {

/// Precondition: as OwnFingerprints has it.
Descriptor descriptor_of(const FingerprintShape& shape);
/// Nothing for one of another kind, of another length, or of a shape that is not valid.
std::optional<FingerprintShape> fingerprint_shape_of(const Descriptor& of);
/// The same of one kind: its QuotientShape or CuckooShape.
template <class OfKind>
std::optional<OfKind> shape_from(const Descriptor& of) {
    const auto shape = fingerprint_shape_of(of);
    if (!shape || !std::holds_alternative<OfKind>(*shape)) return std::nullopt;
    return std::get<OfKind>(*shape);
}

std::uint64_t replica_bytes(const FingerprintShape& shape);
/// Of a snapshot for an accepted shape.
DescriptorVerdict judge_snapshot(const FingerprintShape& shape, std::uint64_t objects,
                                 std::uint64_t payload_bytes);

}  // namespace summary
