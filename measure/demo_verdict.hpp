#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>

#include "measure/report/report.hpp"

namespace measure {

/// The share of the ideal's hits that the demo must reach on its own workload, if the ideal has at
/// least kDemoLeastHits. Every cache loses the requests that arrive while another proxy still
/// fetches the object. Those few weigh much in a small number of hits.
inline constexpr double kDemoGoal = 0.99;
inline constexpr std::uint64_t kDemoLeastHits = 5'000;

/// Returns the reason why a run of the demo failed, or an empty string. A run fails when it was
/// stopped, a request failed, the books do not balance, or a made-up workload (`synthetic`) of
/// sufficient size misses kDemoGoal.
std::string demo_verdict(const Report&, bool synthetic);
/// Returns the reason why a made-up workload is too small for the goal, or an empty string.
std::string too_small_for_the_goal(const Report&);

/// The time of all processors since the start of the machine, in ticks.
struct ProcessorTimes {
    std::uint64_t all = 0, idle = 0;
    std::uint64_t stolen = 0;  ///< by other virtual machines of the host
};
/// Reads /proc/stat (proc_stat(5)); zeros for anything else.
ProcessorTimes processor_times(std::istream& stat);
/// Says that the machine was too busy to judge a run between two times, or returns an empty string.
/// `load_average`: of the last minute.
std::string loaded_words(const ProcessorTimes& from, const ProcessorTimes& to, double load_average);

/// Describes in one sentence how much the disks kept over a restart between two parts of a
/// workload. `hits_of_empty`: the most hits that the second part could find in empty caches.
std::string over_the_restart(const Report& before, const Report& after,
                             std::uint64_t hits_of_empty);

}  // namespace measure
