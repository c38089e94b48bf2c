#pragma once

#include "measure/simulate_command.hpp"

namespace CLI {
class App;
}

namespace measure {

/// The sub-command `simulate` and its options, which are read into `command`.
void add_simulate(CLI::App& app, SimulateCommand& command);

}  // namespace measure
