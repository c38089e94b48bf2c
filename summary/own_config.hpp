#pragma once

#include <cstddef>
#include <cstdint>

#include "summary/kind.hpp"

namespace summary {

/// Does the size still suit the number of objects?
enum class Fit { fits, too_small, too_large };

/// A shape is left when less than one part in so many of its capacity is used.
inline constexpr std::uint64_t kShrinkBelow = 4;
/// A new shape holds so many times the objects there are, which makes two rungs of the ladder (half
/// an octave): more room costs bytes in every announcement, less of it means more snapshots while a
/// cache fills.
inline constexpr double kRoomAfterRegrow = 1.35;

/// What an own summary is to be.
struct OwnConfig {
    double error = 0.001;                // wanted chance of a false hit, see error_per_summary
    std::uint64_t first_epoch = 1;       // must differ from those of earlier runs that peers may
                                         // remember
    std::uint64_t expected_objects = 0;  // never made smaller than for these: the count after a
                                         // warm start
    Kind kind = kDefaultKind;

    // What is done at once: about 3 ms each.
    std::size_t changes_at_once = 32'768;    // of bits; of fingerprints a sixth: encoded
    std::uint64_t keys_at_once = 8'192;      // fed to a summary that grows
    std::size_t words_at_once = 1ull << 16;  // of a snapshot, encoded; copied twice as many
};

}  // namespace summary
