#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace proxy {

// The choice of the variant that leaves when a URI exceeds cache.variants.

inline constexpr std::uint8_t kMostVariantUses = 15;

/// This variant answered a request.
inline void count_use(std::uint8_t& uses) {
    if (uses < kMostVariantUses) ++uses;
}

struct VariantUse {
    std::uint8_t* uses;
    bool stays = false;  // it must stay for now
};

/// The index of one of the least used variants that may leave; empty if all must stay. `displaced`
/// counts the variants of this URI that left before; `seed` belongs to the URI.
///
/// Among equals the choice is even, and follows from `seed` and `displaced`. A choice by age would
/// let a few variants too many displace each other in turn, with hits for none of them. Whenever as
/// many have left as there are variants, all uses are halved, so formerly popular variants make
/// room.
inline std::optional<std::size_t> variant_to_go(std::span<const VariantUse> variants,
                                                std::uint64_t seed, std::uint32_t displaced) {
    if (variants.empty()) return std::nullopt;
    if (displaced % variants.size() == variants.size() - 1)
        for (const auto& variant : variants) *variant.uses /= 2;
    std::size_t equals = 0;
    auto least = kMostVariantUses;
    for (const auto& variant : variants) {
        if (variant.stays || *variant.uses > least) continue;
        equals = *variant.uses < least ? 1 : equals + 1;
        least = *variant.uses;
    }
    if (equals == 0) return std::nullopt;
    auto word = (seed + displaced) * 0x9e3779b97f4a7c15;  // SplitMix64
    word = (word ^ word >> 30) * 0xbf58476d1ce4e5b9;
    word = (word ^ word >> 27) * 0x94d049bb133111eb;
    auto nth = (word ^ word >> 31) % equals;
    for (std::size_t i = 0; i < variants.size(); ++i)
        if (!variants[i].stays && *variants[i].uses == least && nth-- == 0) return i;
    return std::nullopt;
}

}  // namespace proxy
