#pragma once

#include <cstdint>

#include "summary/false_hit_budget.hpp"
#include "summary/shape.hpp"

/// How large a Bloom filter must be, and how wrong it then is. Source: Fan et al. 2000 §V-B.
namespace summary {

inline constexpr std::uint64_t kMinObjects = 1024;  // the smallest shape holds these
inline constexpr unsigned kRungsPerOctave = 4;      // shapes on the ladder grow by 2^(1/4)
inline constexpr unsigned kMinHashes = 4;           // k on the ladder ...
inline constexpr unsigned kMaxLadderHashes = 6;     // ... stays in this range
inline constexpr double kMaxBitsPerObject = 24;     // wanted; see ladder_hashes

/// Chance that a filter filled with `bits_per_object` claims an absent key: (1 - e^(-k/b))^k.
double false_positive_rate(double bits_per_object, unsigned hashes);
/// The same for `objects` keys in this shape.
double false_positive_rate(Shape shape, double objects);

/// Bits per object at which `hashes` functions reach exactly `error`.
double bits_per_object(double error, unsigned hashes);

/// Bits for `objects` keys at `error` with the optimal number of functions, as a real number.
double optimal_bits(double objects, double error);
/// The whole number of functions with the lowest error (7 at 10 bits per object).
unsigned best_hashes(double bits_per_object);

/// Functions used at this error, for all sizes alike: the fewest of 4..6 that need at most
/// kMaxBitsPerObject, since each function costs flips to announce; 6, with as many bits as that
/// takes, when none does (below 1e-4 or so).
unsigned ladder_hashes(double error);

/// The smallest shape on the ladder (4 sizes per octave, multiples of 64 bits) that holds `objects`
/// at `error`. At least kMinObjects are provided for; at most kMaxBits are given, whatever the
/// error then is.
Shape shape_for(std::uint64_t objects, double error);

/// Up to how many objects a shape keeps within `error`.
std::uint64_t capacity(Shape shape, double error);

/// The paper's shapes: `load_factor` bits per object (8, 16, 32), rounded up to whole words; not on
/// the ladder.
Shape shape_for_load_factor(std::uint64_t objects, unsigned load_factor, unsigned hashes);

}  // namespace summary
