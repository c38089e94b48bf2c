#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <vector>

#include "measure/origin/origin.hpp"
#include "measure/report/progress.hpp"
#include "measure/report/report.hpp"

namespace measure {

struct MeasureOptions {
    ReplayOptions replay;
    std::vector<HostPort> admins;  ///< none, or one for each proxy in the same order
    std::chrono::milliseconds wait{
        10'000};                     ///< how long to wait for the proxies to be ready and in sync
    const Origin* origin = nullptr;  ///< when it runs in this process
};

/// Waits until every node is ready, knows what is on its disk, and is in sync with all its peers,
/// for at most `timeout`. What is still missing then, in one sentence; empty when nothing is.
/// `abort` may end the wait early with a reason.
std::string wait_until_in_sync(const std::vector<HostPort>& admins,
                               std::chrono::milliseconds timeout, Progress& progress,
                               const std::function<std::string()>& abort = {});

/// One whole measurement: waits for the cluster, reads its counters, replays, lets the counters
/// settle, reads them again. Counters are also looked at meanwhile, so that the restart of a proxy
/// is noticed. Throws std::runtime_error when no proxy can be reached.
Report measure(const Trace&, const MeasureOptions&, Progress&);

}  // namespace measure
