#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "summary/bloom_filter.hpp"
#include "summary/cuckoo_filter.hpp"
#include "summary/delta.hpp"
#include "summary/descriptor.hpp"
#include "summary/fingerprint_coding.hpp"
#include "summary/key.hpp"
#include "summary/quotient_filter.hpp"

/// A peer's summary as others keep it, and its changes: one alternative for each kind.
namespace summary {

/// Answers whether its owner may have a key.
using Filter = std::variant<BloomFilter, QuotientFilter, CuckooFilter>;

/// What a delta says, decoded for the filter it was applied to.
using CuckooWrites = std::vector<CuckooWrite>;
using Change = std::variant<Delta, FingerprintDelta, CuckooWrites>;

Descriptor descriptor_of(const Filter& filter);
bool contains(const Filter& filter, const Key& key);
std::uint64_t check_hash(const Filter& filter);

/// Decodes a delta's payload against what the filter holds now, and applies it. Nothing when the
/// bytes are not a delta for this filter; what it then holds is of no more use.
std::optional<Change> apply_delta(std::span<const std::byte> payload, Filter& filter);

}  // namespace summary
