#pragma once

#include <string>

#include "measure/commands.hpp"
#include "measure/report/report.hpp"

namespace measure {

struct DemoCommand {
    TraceOptions trace;  ///< an empty path means the made-up workload
    WorkloadOptions workload;
    double rate = 2000;  ///< requests per second
    bool stay = false, json = false;
};

/// Part of the ideal that the demo must reach on its own workload.
inline constexpr double kDemoGoal = 0.99;

/// What keeps a run of the demo from being a success; empty when nothing does.
std::string demo_verdict(const Report&, bool synthetic);

/// Starts the built-in origin and three proxies on loopback, replays a workload and prints the
/// table. Fails unless every request was answered rightly, the books balance and, with the made-up
/// workload, local and peer hits reach kDemoGoal of the ideal. With `stay` the cluster stays up
/// until INT or TERM.
int demo_command(const DemoCommand&);

}  // namespace measure
