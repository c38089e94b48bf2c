#pragma once

#include <functional>

#include "measure/tiers/tiers_config.hpp"
#include "measure/trace/trace.hpp"

namespace measure {

/// Runs the trace through one proxy with a disk behind its memory. What is asked for while only the
/// disk has it comes into memory, too; what leaves memory and is not on the disk is gone. Memory
/// takes objects of at most half of it; larger ones go to the disk alone (as blocks of large bodies
/// do by way of memory), if they are at most half of that. Equal arguments give equal counts on
/// every machine. `progress`: called now and then with the part that is done; false from it ends
/// the run, with what was counted so far. Throws std::invalid_argument for numbers that make no
/// sense.
TierCounts simulate_tiers(const Trace& trace, const TiersConfig& config,
                          const std::function<bool(double)>& progress = {});

}  // namespace measure
