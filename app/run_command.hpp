#pragma once

#include <string>

#include "app/command.hpp"
#include "proxy/node/blocked_signals.hpp"

namespace app {

// The sub-commands that read a configuration. Each returns the exit code and reports errors on
// standard error.

int run_command(const std::string& file, proxy::BlockedSignals& blocked);
/// `blocked` is set if the command line is one of `run`.
Command add_run(CLI::App& app, proxy::BlockedSignals* blocked);

/// The machines that a check asks: see check_peers() and check_origins().
struct AskedByCheck {
    bool peers = false, origins = false;
};

/// `strict`: warnings count as errors.
int check_command(const std::string& file, bool strict = false, AskedByCheck asks = {});
Command add_check(CLI::App& app);

}  // namespace app
