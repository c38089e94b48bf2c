#pragma once

#include <cstdint>
#include <variant>

#include "summary/filters/cuckoo_filter.hpp"
#include "summary/filters/quotient_filter.hpp"

/// The numbering of keys for the filter of a receiver, and the size that it needs.
namespace summary {

using FingerprintShape = std::variant<QuotientShape, CuckooShape>;

std::uint64_t universe(const FingerprintShape& shape);
/// The number of objects that the shape is made for.
std::uint64_t capacity(const FingerprintShape& shape);
std::uint64_t fingerprint(KeyHash key, const FingerprintShape& shape);

/// The chance that a summary of `objects` objects matches an absent key.
double false_positive_rate(const FingerprintShape& shape, double objects);

/// The smallest shapes with room for `objects` at the error. Quotient filters have four sizes for
/// each octave, as Bloom filters have; cuckoo filters have one. The shapes have room for
/// kMinObjects at least. The error is larger where kMaxUniverse or kMaxTagBits is the limit.
QuotientShape quotient_shape_for(std::uint64_t objects, double error);
CuckooShape cuckoo_shape_for(std::uint64_t objects, double error);

}  // namespace summary
