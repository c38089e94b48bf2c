#pragma once

#include <functional>

#include "measure/tiers/tiers_config.hpp"
#include "measure/trace/trace.hpp"

namespace measure {

/// Runs the trace through one proxy with a disk behind its memory. A hit on the disk brings the
/// object into memory. An object evicted from memory is lost unless the disk has it. Memory takes
/// objects of at most half of it. Larger ones go to the disk alone, if they are at most half of
/// that; in a node the blocks of large bodies take this way. Equal arguments give equal counts on
/// every machine. `progress` is called now and then with the share of the work that is done; it
/// returns false to end the run, which then returns the counts so far. Throws std::invalid_argument
/// for numbers out of range.
TierCounts simulate_tiers(const Trace& trace, const TiersConfig& config,
                          const std::function<bool(double)>& progress = {});

}  // namespace measure
