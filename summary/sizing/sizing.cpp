#include "summary/sizing/sizing.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <numbers>

namespace summary {

namespace {

// 2^(i/4) in units of 2^-16: whole numbers, so that all nodes get the same ladder.
constexpr std::array<std::uint64_t, kRungsPerOctave> kStep{65536, 77936, 92682, 110218};
constexpr unsigned kFirstOctave = 12;
constexpr unsigned kLastOctave = 32;
static_assert(kMaxBits == std::uint64_t{1} << kLastOctave);

/// The smallest size on the ladder that is at least `bits`, or the largest.
std::uint64_t rung_for(double bits) {
    for (unsigned octave = kFirstOctave; octave < kLastOctave; ++octave) {
        for (const auto step : kStep) {
            const auto rung = (step << octave >> 16) / 64 * 64;
            if (static_cast<double>(rung) >= bits) return rung;
        }
    }
    return kMaxBits;
}

}  // namespace

double false_positive_rate(double bits_per_object, unsigned hashes) {
    const double k = hashes;
    return std::pow(-std::expm1(-k / bits_per_object), k);
}

double bits_per_object(double error, unsigned hashes) {
    return -static_cast<double>(hashes) / std::log1p(-std::pow(error, 1.0 / hashes));
}

double optimal_bits(double objects, double error) {
    return -objects * std::log(error) / (std::numbers::ln2 * std::numbers::ln2);
}

unsigned best_hashes(double bits_per_object) {
    const auto below = std::max(1U, static_cast<unsigned>(bits_per_object * std::numbers::ln2));
    const bool one_more = false_positive_rate(bits_per_object, below + 1) <
                          false_positive_rate(bits_per_object, below);
    return one_more ? below + 1 : below;
}

unsigned ladder_hashes(double error) {
    for (unsigned hashes = kMinHashes; hashes < kMaxLadderHashes; ++hashes) {
        if (bits_per_object(clamped_error(error), hashes) <= kMaxBitsPerObject) return hashes;
    }
    return kMaxLadderHashes;
}

Shape shape_for(std::uint64_t objects, double error) {
    const auto hashes = ladder_hashes(error);
    const auto room = static_cast<double>(std::max(objects, kMinObjects));
    return {rung_for(room * bits_per_object(clamped_error(error), hashes)), hashes};
}

std::uint64_t capacity(Shape shape, double error) {
    return static_cast<std::uint64_t>(static_cast<double>(shape.bits) /
                                      bits_per_object(clamped_error(error), shape.hashes));
}

Shape shape_for_load_factor(std::uint64_t objects, unsigned load_factor, unsigned hashes) {
    const auto room = std::clamp<std::uint64_t>(objects, 1, kMaxBits / load_factor);
    const Shape shape{(room * load_factor + 63) / 64 * 64, hashes};
    assert(is_valid(shape));
    return shape;
}

}  // namespace summary
