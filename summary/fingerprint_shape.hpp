#pragma once

#include <cstdint>
#include <variant>

#include "summary/cuckoo_filter.hpp"
#include "summary/quotient_filter.hpp"

/// How keys are numbered for a filter that a receiver keeps, and how large that has to be.
namespace summary {

using FingerprintShape = std::variant<QuotientShape, CuckooShape>;

std::uint64_t universe(const FingerprintShape& shape);
/// Up to how many objects it is for.
std::uint64_t capacity(const FingerprintShape& shape);
std::uint64_t fingerprint(KeyHash key, const FingerprintShape& shape);

/// The chance that a summary of so many objects claims an absent key.
double false_positive_rate(const FingerprintShape& shape, double objects);

/// The smallest that hold so many objects at the error. Quotient filters have four sizes for each
/// octave, as Bloom filters have; cuckoo filters one. At least kMinObjects are provided for; where
/// kMaxUniverse or kMaxTagBits end, the error is what it then is.
QuotientShape quotient_shape_for(std::uint64_t objects, double error);
CuckooShape cuckoo_shape_for(std::uint64_t objects, double error);

}  // namespace summary
