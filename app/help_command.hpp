#pragma once

#include <string>
#include <vector>

#include "app/command.hpp"

namespace app {

// What the program says about its own commands and options.

Command add_help(CLI::App& app);
Command add_version(CLI::App& app);

/// Reports an unknown command, and the nearest known one. Returns the exit code.
int no_command(const CLI::App& app, const std::string& name);
/// Proposes the option that was probably meant, after the error about an unknown one or about a log
/// without `--trace`. `words`: the command line without the program.
void propose_option(const CLI::App& app, const std::vector<std::string>& words);

}  // namespace app
