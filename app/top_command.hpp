#pragma once

#include "app/admin_port.hpp"
#include "app/command.hpp"

namespace app {

/// `hearsay top`: shows the cluster as one node knows it, anew each second, until q or a signal
/// ends it. Prints one picture without escape sequences if standard output is no terminal. Returns
/// the exit code: kFailed if the node is silent at first.
int top_command(const NodeChoice&);
Command add_top(CLI::App& app);

}  // namespace app
