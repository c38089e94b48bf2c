#include <fmt/format.h>

#include <cmath>

#include "measure/report/numbers.hpp"
#include "measure/study/study_report.hpp"
#include "measure/tiers/tiers_study.hpp"

namespace measure {
namespace {

/// A loss of hits too small to outweigh saved writes.
constexpr double kPointsThatMatter = 0.1;

/// Hits lost by admission, in percentage points of the requests; negative if won.
double lost_points(const TierCounts& counts, const TierCounts& everything) {
    return percent(everything.hits(), everything.requests) -
           percent(counts.hits(), counts.requests);
}

std::string about_admission(const TierCounts& counts, const TierCounts& everything) {
    const double lost = lost_points(counts, everything);
    const auto hits =
        std::abs(lost) < 0.005
            ? std::string("loses no hits")
            : fmt::format("{} {:.2f} points of hits", lost > 0 ? "loses" : "wins", std::abs(lost));
    return fmt::format(
        " Writing at the second request spares {:.0f} % of the writes and {} against writing "
        "everything.",
        100 * writes_saved(counts, everything), hits);
}

/// The reason why a disk of this size teaches nothing; empty if it does.
std::string too_little_to_tell(const LogFacts& log, const TiersTable& table,
                               const TierCounts& everything) {
    if (everything.written_bytes() == 0) return " It stayed empty: no object of the log fits.";
    const bool unit_objects = table.groups.front().rows.front().config.unit_objects;
    const auto held = static_cast<double>(table.disk_bytes) / mean_object_bytes(log, unit_objects);
    const auto doubted = static_cast<double>(log.in_doubt);
    if (doubted > kDoubtAllowed * (doubted + static_cast<double>(log.requests)))
        return fmt::format(
            " {} left out as uncertain: that is too much to judge by "
            "the rest.",
            amount(log.in_doubt, "line"));
    if (log.requests >= kFewestRequests && held >= kFewestObjects) return {};
    return fmt::format(
        " That is too little for a conclusion: the log has {}, and the disk has room for {:.0f} of "
        "its {}.",
        amount(log.requests, "request"), std::floor(held), amount(log.objects, "object"));
}

}  // namespace

std::string tiers_words(const TiersStudy& study) {
    std::string out;
    bool loses = false;
    std::size_t compared = 0;
    for (const auto& table : study.tables) {
        const auto* counts = table.as_nodes();
        if (!counts) continue;
        out += fmt::format(
            "With a disk of {} behind {} of memory {:.1f} % of the requests are hits, {:.1f} "
            "points of them from the disk, and {:.1f} % of the bytes.",
            size_text(static_cast<double>(table.disk_bytes)),
            size_text(static_cast<double>(table.memory_bytes)),
            percent(counts->hits(), counts->requests), percent(counts->disk_hits, counts->requests),
            percent(counts->hit_bytes(), counts->bytes));
        if (const auto* everything = table.everything()) {
            if (const auto why = too_little_to_tell(study.log, table, *everything); !why.empty()) {
                out += why;
            } else {
                out += about_admission(*counts, *everything);
                loses = loses || lost_points(*counts, *everything) > kPointsThatMatter;
                ++compared;
            }
        }
        out += '\n';
    }
    if (compared == 0) return out;
    return out + (loses ? "Where hits matter more than writes: \"disk_admission\": \"always\".\n"
                        : "So \"disk_admission\" may stay \"second_request\", the default.\n");
}

}  // namespace measure
