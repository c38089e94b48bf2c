#include "measure/demo_verdict.hpp"

#include <fmt/format.h>

#include <array>
#include <istream>

#include "measure/report/numbers.hpp"
#include "measure/trace/workload.hpp"

namespace measure {

std::string demo_verdict(const Report& report, bool synthetic) {
    if (report.stopped) return "stopped before its end";
    const Figures all = totals_of(report);
    if (all.errors > 0) return amount(all.errors, "request") + " failed";
    if (!books_of(report).balanced()) return "the books do not balance";
    if (synthetic && too_small_for_the_goal(report).empty() && found_of_ideal(report) < kDemoGoal) {
        return fmt::format("{:.4f} of the ideal hits were found, the goal is {}",
                           found_of_ideal(report), kDemoGoal);
    }
    return {};
}

std::string too_small_for_the_goal(const Report& report) {
    const auto hits = report.ideal.total.shared_hits;
    if (hits >= kDemoLeastHits || report.stopped) return {};
    return fmt::format(
        "too few requests to judge what was found: the ideal has {}, {} are needed "
        "(--requests {} has more)",
        amount(hits, "hit"), grouped(kDemoLeastHits), WorkloadOptions{}.requests);
}

ProcessorTimes processor_times(std::istream& stat) {
    // user, nice, system, idle, iowait, irq, softirq, steal; the times of guests are in user
    std::array<std::uint64_t, 8> parts{};
    ProcessorTimes times;
    if (std::string name; !(stat >> name) || name != "cpu") return {};
    for (auto& part : parts) {
        if (!(stat >> part)) return {};
        times.all += part;
    }
    times.idle = parts[3] + parts[4];
    times.stolen = parts[7];
    return times;
}

std::string loaded_words(const ProcessorTimes& from, const ProcessorTimes& to,
                         double load_average) {
    constexpr double kLeastIdle = 10, kMostStolen = 5;  // percent
    if (to.all <= from.all || to.idle < from.idle || to.stolen < from.stolen) return {};
    const auto idle = percent(to.idle - from.idle, to.all - from.all);
    const auto stolen = percent(to.stolen - from.stolen, to.all - from.all);
    if (idle >= kLeastIdle && stolen <= kMostStolen) return {};
    return fmt::format(
        "the machine was loaded: its processors were idle for {:.0f} % of the time, other virtual "
        "machines took {:.0f} %, and the load average was {:.1f} (try an idle machine, or a lower "
        "--rate)",
        idle, stolen, load_average);
}

std::string over_the_restart(const Report& before, const Report& after,
                             std::uint64_t hits_of_empty) {
    std::uint64_t objects = 0;
    for (const auto& row : after.rows) objects += row.objects_before;
    const auto ideal = after.ideal.total.shared_hits;
    return fmt::format(
        "found {:.4f} of the ideal hits before the restart and {:.4f} after it ({} came "
        "back from the disks; empty caches could have found {:.4f})",
        found_of_ideal(before), found_of_ideal(after), amount(objects, "object"),
        ideal == 0 ? 0 : static_cast<double>(hits_of_empty) / static_cast<double>(ideal));
}

}  // namespace measure
