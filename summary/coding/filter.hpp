#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "summary/coding/descriptor.hpp"
#include "summary/coding/fingerprint_coding.hpp"
#include "summary/filters/bloom_filter.hpp"
#include "summary/filters/cuckoo_filter.hpp"
#include "summary/filters/delta.hpp"
#include "summary/filters/quotient_filter.hpp"
#include "summary/sizing/key.hpp"

/// A peer's summary as its receivers keep it, and its changes: one alternative for each kind.
namespace summary {

/// Matches the keys that its owner may have.
using Filter = std::variant<BloomFilter, QuotientFilter, CuckooFilter>;

/// A delta, decoded for the filter to which it was applied.
using CuckooWrites = std::vector<CuckooWrite>;
using Change = std::variant<Delta, FingerprintDelta, CuckooWrites>;

Descriptor descriptor_of(const Filter& filter);
bool contains(const Filter& filter, const Key& key);
std::uint64_t check_hash(const Filter& filter);

/// Decodes a delta's payload against the filter, and applies it. Returns nullopt when the bytes are
/// something else than a delta for this filter; the filter is then useless.
std::optional<Change> apply_delta(std::span<const std::byte> payload, Filter& filter);

}  // namespace summary
