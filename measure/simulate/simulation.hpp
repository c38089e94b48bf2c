#pragma once

#include <functional>

#include "measure/simulate/simulation_config.hpp"
#include "measure/trace/trace.hpp"

// All classes of this folder belong to the thread that calls simulate().

namespace measure {

/// Runs the trace through simulated proxies in virtual time. Equal arguments give equal counts on
/// every machine. `progress` is called now and then with the share of the work that is done; it
/// returns false to end the run, which then returns the counts so far. Throws std::invalid_argument
/// for numbers out of range.
SimulationCounts simulate(const Trace& trace, const SimulationConfig& config,
                          const std::function<bool(double)>& progress = {});

}  // namespace measure
