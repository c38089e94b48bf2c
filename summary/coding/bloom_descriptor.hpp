#pragma once

#include <cstdint>
#include <optional>

#include "summary/coding/descriptor.hpp"
#include "summary/sizing/shape.hpp"

/// Descriptors of the kind counting_bloom, and their cost. The fields are bits (8 bytes) and hashes
/// (1 byte), see summary/FORMAT.md.
namespace summary {

/// Precondition: is_valid(shape).
Descriptor descriptor_of(Shape shape);
/// Returns nullopt for a descriptor of another kind or length, and for an invalid shape.
std::optional<Shape> shape_of(const Descriptor& of);

std::uint64_t replica_bytes(Shape shape);
/// Judges a snapshot of an accepted shape.
DescriptorVerdict judge_snapshot(Shape shape, std::uint64_t objects, std::uint64_t payload_bytes);

}  // namespace summary
