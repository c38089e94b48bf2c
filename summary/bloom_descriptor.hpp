#pragma once

#include <cstdint>
#include <optional>

#include "summary/descriptor.hpp"
#include "summary/shape.hpp"

/// The descriptors of the kind counting_bloom, and what they cost: bits (8 bytes) and hashes (1
/// byte), see summary/FORMAT.md.
namespace summary {

/// Precondition: is_valid(shape).
Descriptor descriptor_of(Shape shape);
/// Nothing for one of another kind, of another length, or of a shape that is not valid.
std::optional<Shape> shape_of(const Descriptor& of);

std::uint64_t replica_bytes(Shape shape);
/// Of a snapshot for an accepted shape.
DescriptorVerdict judge_snapshot(Shape shape, std::uint64_t objects, std::uint64_t payload_bytes);

}  // namespace summary
