#pragma once

#include "app/simulate_command.hpp"

namespace CLI {
class App;
}

namespace app {

/// The sub-command `simulate` and its options, which are read into `command`.
void add_simulate(CLI::App& app, SimulateCommand& command);

}  // namespace app
