#include "summary/coding/fingerprint_shape.hpp"

#include <algorithm>
#include <cmath>

#include "summary/sizing/sizing.hpp"

namespace summary {

namespace {

double clamped(double error) {
    return std::clamp(error, kMinError, kMaxError);
}

std::uint64_t size_at(double rung) {
    return static_cast<std::uint64_t>(std::ceil(std::exp2(rung / kRungsPerOctave) * kMinObjects));
}

}  // namespace

std::uint64_t universe(const FingerprintShape& shape) {
    if (const auto* const quotient = std::get_if<QuotientShape>(&shape)) return quotient->universe;
    return universe(std::get<CuckooShape>(shape));
}

std::uint64_t capacity(const FingerprintShape& shape) {
    if (const auto* const quotient = std::get_if<QuotientShape>(&shape)) return quotient->capacity;
    return capacity(std::get<CuckooShape>(shape));
}

std::uint64_t fingerprint(KeyHash key, const FingerprintShape& shape) {
    if (const auto* const quotient = std::get_if<QuotientShape>(&shape)) {
        return fingerprint(key, quotient->universe);
    }
    return cuckoo_fingerprint(key, std::get<CuckooShape>(shape));
}

double false_positive_rate(const FingerprintShape& shape, double objects) {
    if (const auto* const quotient = std::get_if<QuotientShape>(&shape)) {
        return -std::expm1(-objects / static_cast<double>(quotient->universe));
    }
    // The number of taken places among the eight of two buckets.
    const auto cuckoo = std::get<CuckooShape>(shape);
    const auto tags = std::ldexp(2 * objects, -static_cast<int>(cuckoo.buckets_log2));
    return cuckoo_false_positive_rate(cuckoo.tag_bits, tags);
}

QuotientShape quotient_shape_for(std::uint64_t objects, double error) {
    const auto wanted = std::min(std::max(objects, kMinObjects), kMaxFingerprints);
    const auto octaves = std::log2(static_cast<double>(wanted) / kMinObjects);
    auto rung = std::floor(octaves * kRungsPerOctave);
    while (size_at(rung) < wanted) ++rung;
    while (rung > 0 && size_at(rung - 1) >= wanted) --rung;
    const auto room = std::min(size_at(rung), kMaxFingerprints);
    const auto range = std::ceil(static_cast<double>(room) / clamped(error));
    const auto universe =
        (static_cast<std::uint64_t>(range) + kUniverseUnit - 1) / kUniverseUnit * kUniverseUnit;
    return quotient_shape(std::min(universe, kMaxUniverse), room);
}

CuckooShape cuckoo_shape_for(std::uint64_t objects, double error) {
    auto shape = cuckoo_shape(std::max(objects, kMinObjects), clamped(error));
    shape.buckets_log2 = std::max(shape.buckets_log2, kKeyShardsLog2);
    return shape;
}

}  // namespace summary
