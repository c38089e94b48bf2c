#pragma once

#include <string>
#include <vector>

#include "app/command.hpp"
#include "measure/run/replay.hpp"
#include "measure/trace/trace.hpp"
#include "measure/trace/workload.hpp"

namespace app {

/// Options of `hearsay replay`. The command turns the addresses and seconds into those of `replay`.
struct ReplayCommand {
    measure::TraceOptions trace;
    bool synthetic = false;
    measure::WorkloadOptions workload;
    std::vector<std::string> proxies, admins;
    measure::ReplayOptions replay;
    std::string origin_listen;
    unsigned origin_workers = 1;
    double wait_seconds = 10;
    bool json = false, quiet = false;
    std::string html;     ///< page to write; empty: none
    std::string written;  ///< the command line, for the page
};

/// `hearsay replay`: returns the exit code and reports errors on standard error.
int replay_command(ReplayCommand);
/// `written`: the command line.
Command add_replay(CLI::App& app, const std::string& written);

}  // namespace app
