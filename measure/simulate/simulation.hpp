#pragma once

#include <functional>

#include "measure/simulate/simulation_config.hpp"
#include "measure/trace/trace.hpp"

namespace measure {

/// Runs the trace through so many simulated proxies in virtual time. Equal arguments give equal
/// counts on every machine. `progress`: called now and then with the part that is done; false from
/// it ends the run, with what was counted so far. Throws std::invalid_argument for numbers that
/// make no sense.
SimulationCounts simulate(const Trace& trace, const SimulationConfig& config,
                          const std::function<bool(double)>& progress = {});

}  // namespace measure
