#pragma once

#include <cstdint>
#include <optional>
#include <variant>

#include "summary/coding/descriptor.hpp"
#include "summary/coding/fingerprint_shape.hpp"

/// Descriptors of the kinds quotient and cuckoo, and their cost; see summary/FORMAT.md. The fields
/// of quotient are universe and capacity (8 bytes each). Those of cuckoo are the logarithm of the
/// buckets and the tag bits (1 byte each).
namespace summary {

/// Precondition: that of OwnFingerprints.
Descriptor descriptor_of(const FingerprintShape& shape);
/// Returns nullopt for a descriptor of another kind or length, and for an invalid shape.
std::optional<FingerprintShape> fingerprint_shape_of(const Descriptor& of);
/// The same for one kind: its QuotientShape or CuckooShape.
template <class OfKind>
std::optional<OfKind> shape_from(const Descriptor& of) {
    const auto shape = fingerprint_shape_of(of);
    if (!shape || !std::holds_alternative<OfKind>(*shape)) return std::nullopt;
    return std::get<OfKind>(*shape);
}

std::uint64_t replica_bytes(const FingerprintShape& shape);
/// Judges a snapshot of an accepted shape.
DescriptorVerdict judge_snapshot(const FingerprintShape& shape, std::uint64_t objects,
                                 std::uint64_t payload_bytes);

}  // namespace summary
