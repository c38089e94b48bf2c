#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "measure/report/report.hpp"
#include "measure/trace/trace.hpp"
#include "measure/trace/workload.hpp"

namespace measure {

struct DemoCommand {
    TraceOptions trace;  ///< an empty path means the made-up workload
    WorkloadOptions workload;
    double rate = 2000;                       ///< requests per second
    std::optional<std::uint64_t> disk_bytes;  ///< of each proxy; all are killed in the middle then
    bool stay = false, json = false;
};

/// Part of the ideal that the demo must reach on its own workload, if that has so many hits. What
/// is asked for while another proxy is fetching it is lost to any cache, and of few hits such a
/// handful is many.
inline constexpr double kDemoGoal = 0.99;
inline constexpr std::uint64_t kDemoLeastHits = 5'000;

/// What keeps a run of the demo from being a success; empty when nothing does.
std::string demo_verdict(const Report&, bool synthetic);
/// Why a made-up workload is too small for the goal; empty when it is not.
std::string too_small_for_the_goal(const Report&);

/// What the disks kept over a restart between two parts of a workload, in a sentence.
/// `hits_of_empty`: what the second part could have found at best in caches that begin with
/// nothing.
std::string over_the_restart(const Report& before, const Report& after,
                             std::uint64_t hits_of_empty);

/// Starts the built-in origin and three proxies on loopback, replays a workload and prints the
/// table. Fails unless every request was answered rightly, the books balance and, with a made-up
/// workload that is large enough, local and peer hits reach kDemoGoal of the ideal. With disks all
/// proxies are killed after half of the workload and started again, and both halves must hold to
/// that. With `stay` the cluster stays up until INT or TERM.
int demo_command(const DemoCommand&);

}  // namespace measure
