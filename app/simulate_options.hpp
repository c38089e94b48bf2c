#pragma once

#include "app/simulate_command.hpp"

namespace CLI {
class App;
}

namespace app {

/// Adds the sub-command `simulate`. Its options are read into `command`.
void add_simulate(CLI::App& app, SimulateCommand& command);

}  // namespace app
