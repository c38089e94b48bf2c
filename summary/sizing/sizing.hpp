#pragma once

#include <cstdint>

#include "summary/sizing/false_hit_budget.hpp"
#include "summary/sizing/shape.hpp"

/// The size of a Bloom filter, and its resulting error. Source: Fan et al. 2000 §V-B.
namespace summary {

inline constexpr std::uint64_t kMinObjects = 1024;  // room of the smallest shape
inline constexpr unsigned kRungsPerOctave = 4;      // shapes on the ladder grow by 2^(1/4)
inline constexpr unsigned kMinHashes = 4;           // k on the ladder ...
inline constexpr unsigned kMaxLadderHashes = 6;     // ... stays in this range
inline constexpr double kMaxBitsPerObject = 24;     // for ladder_hashes()

/// The chance that a filter with `bits_per_object` matches an absent key: (1 - e^(-k/b))^k.
double false_positive_rate(double bits_per_object, unsigned hashes);

/// Bits per object with which `hashes` functions reach exactly `error`.
double bits_per_object(double error, unsigned hashes);

/// Bits for `objects` keys at `error` with the optimal number of functions, as a real number.
double optimal_bits(double objects, double error);
/// The whole number of functions with the lowest error (7 at 10 bits per object).
unsigned best_hashes(double bits_per_object);

/// The number of functions for this error, the same for all sizes. It is the smallest of 4 to 6
/// that needs at most kMaxBitsPerObject, since each function costs flips to announce. Below an
/// error of about 1e-4 it is 6, with as many bits as that takes.
unsigned ladder_hashes(double error);

/// The smallest shape on the ladder (4 sizes per octave, multiples of 64 bits) with room for
/// `objects` at `error`. It has room for kMinObjects at least. With kMaxBits, the largest shape,
/// the error may be larger.
Shape shape_for(std::uint64_t objects, double error);

/// The number of objects for which a shape keeps `error`.
std::uint64_t capacity(Shape shape, double error);

/// The paper's shapes: `load_factor` bits per object (8, 16, 32), rounded up to whole words. They
/// are off the ladder.
Shape shape_for_load_factor(std::uint64_t objects, unsigned load_factor, unsigned hashes);

}  // namespace summary
