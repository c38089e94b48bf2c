#pragma once

#include <string>

#include "app/command.hpp"

namespace app {

/// `hearsay demo`: starts the built-in origin and three proxies on loopback, replays a workload and
/// prints the table. With disks it kills all proxies after half of the workload, starts them again
/// and replays the rest; each half is judged. With `stay` the cluster runs until INT or TERM.
/// Returns kOk when measure::demo_verdict() finds no fault in any part, else kFailed.
/// `written`: the command line.
Command add_demo(CLI::App& app, const std::string& written);

}  // namespace app
