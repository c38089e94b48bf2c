#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <vector>

#include "measure/origin/origin.hpp"
#include "measure/report/progress.hpp"
#include "measure/report/report.hpp"

namespace measure {

/// The options of measure(): replay, admin ports and the origin. `origin` outlives the call.
struct MeasureOptions {
    ReplayOptions replay;
    std::vector<HostPort> admins;  ///< empty, or one for each proxy in the same order
    std::chrono::milliseconds wait{
        10'000};                     ///< longest wait until all proxies are ready and in sync
    const Origin* origin = nullptr;  ///< the origin, if it runs in this process
};

/// Waits up to `timeout` until every node is ready, has indexed its disk, and is in sync with all
/// its peers. Returns a sentence about the nodes that are still behind, or an empty string. `abort`
/// ends the wait early by returning a reason.
std::string wait_until_in_sync(const std::vector<HostPort>& admins,
                               std::chrono::milliseconds timeout, Progress& progress,
                               const std::function<std::string()>& abort = {});

/// Runs one whole measurement: waits for the cluster, reads its counters, replays, waits until the
/// counters settle, and reads them again. It also reads them during the replay, to notice the
/// restart of a proxy. Throws std::runtime_error if every proxy is unreachable.
Report measure(const Trace&, const MeasureOptions&, Progress&);

}  // namespace measure
