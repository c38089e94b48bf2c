#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/exit_codes.hpp"
#include "measure/origin/origin.hpp"
#include "measure/run/replay.hpp"
#include "measure/trace/trace.hpp"
#include "measure/trace/workload.hpp"
#include "proxy/blocked_signals.hpp"

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

/// The sub-commands. Each returns the exit code and reports errors on standard error.
int run_command(const std::string& file, proxy::BlockedSignals& blocked);
/// `strict`: warnings count as errors. `peers`: see check_peers().
int check_command(const std::string& file, bool strict = false, bool peers = false);
int origin_command(const measure::OriginOptions&);
int replay_command(ReplayCommand);

}  // namespace app
