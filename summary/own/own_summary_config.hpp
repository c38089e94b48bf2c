#pragma once

#include <cstddef>
#include <cstdint>

#include "summary/sizing/kind.hpp"

namespace summary {

/// The fit of a size to the number of objects.
enum class Fit { fits, too_small, too_large };

/// A summary shrinks when it uses less than this fraction of its capacity.
inline constexpr std::uint64_t kShrinkBelow = 4;
/// A new shape has room for this many times the present objects, two rungs of the ladder (half an
/// octave). More room costs bytes in every announcement; less room means more snapshots while a
/// cache grows.
inline constexpr double kRoomAfterRegrow = 1.35;

/// Settings of an own summary.
struct OwnSummaryConfig {
    double error = 0.001;           // wanted chance of a false hit, see error_per_summary()
    std::uint64_t first_epoch = 1;  // differs from those of earlier instances that peers remember
    std::uint64_t expected_objects = 0;  // smallest size, for the count after a warm start
    Kind kind = kDefaultKind;

    // Work done at once, about 3 ms each.
    std::size_t changes_at_once = 32'768;    // of bits, encoded; a sixth of that for fingerprints
    std::uint64_t keys_at_once = 8'192;      // fed to a growing summary
    std::size_t words_at_once = 1ull << 16;  // of a snapshot, encoded; twice as many copied
};

}  // namespace summary
