#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <variant>

#include "summary/bloom_filter.hpp"
#include "summary/delta.hpp"
#include "summary/descriptor.hpp"
#include "summary/key.hpp"

/// A peer's summary as others keep it, and its changes: one alternative for each kind.
namespace summary {

/// Answers whether its owner may have a key.
using Filter = std::variant<BloomFilter>;

/// What a delta says, decoded for the filter it was applied to.
using Change = std::variant<Delta>;

Descriptor descriptor_of(const Filter& filter);
bool contains(const Filter& filter, const Key& key);
std::uint64_t check_hash(const Filter& filter);

/// Decodes a delta's payload against what the filter holds now, and applies it. Nothing, and
/// nothing is changed, when the bytes are not a delta for this filter.
std::optional<Change> apply_delta(std::span<const std::byte> payload, Filter& filter);

}  // namespace summary
