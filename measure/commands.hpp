#pragma once

#include <optional>
#include <string>
#include <vector>

#include "measure/exit_codes.hpp"
#include "measure/origin/origin.hpp"
#include "measure/run/replay.hpp"
#include "measure/trace/trace.hpp"
#include "measure/trace/workload.hpp"

namespace measure {

struct ReplayCommand {
    TraceOptions trace;
    bool synthetic = false;
    WorkloadOptions workload;
    std::vector<std::string> proxies, admins;
    ReplayOptions replay;
    std::string origin_listen;
    unsigned origin_workers = 1;
    double wait_seconds = 10;
    bool json = false, quiet = false;
};

/// The sub-commands; each returns the exit code and prints what went wrong on standard error.
int run_command(const std::string& file);
/// `strict`: warnings too make a configuration a bad one. `peers`: see check_peers().
int check_command(const std::string& file, bool strict = false, bool peers = false);
int origin_command(const OriginOptions&);
int replay_command(ReplayCommand);

}  // namespace measure
