#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "app/command.hpp"
#include "measure/trace/trace.hpp"
#include "measure/trace/workload.hpp"

namespace app {

/// Options of `hearsay demo`.
struct DemoCommand {
    measure::TraceOptions trace;  ///< an empty path selects the made-up workload
    measure::WorkloadOptions workload;
    double rate = 2000;                       ///< requests per second
    std::optional<std::uint64_t> disk_bytes;  ///< of each proxy; with disks all proxies are killed
                                              ///< after half of the workload
    bool stay = false, json = false;
    std::string html;     ///< page to write; empty: none
    std::string written;  ///< the command line, for the page
};

/// `hearsay demo`: starts the built-in origin and three proxies on loopback, replays a workload and
/// prints the table. With disks it kills all proxies after half of the workload, starts them again
/// and replays the rest; each half is judged. With `stay` the cluster runs until INT or TERM.
/// Returns kOk when measure::demo_verdict() finds all parts right, else kFailed.
int demo_command(const DemoCommand&);
/// `written`: the command line.
Command add_demo(CLI::App& app, const std::string& written);

}  // namespace app
