#include <fmt/format.h>

#include <cmath>

#include "measure/report/numbers.hpp"
#include "measure/tiers/tiers_study.hpp"

namespace measure {
namespace {

/// Hits that are not worth the writes they spare.
constexpr double kPointsThatMatter = 0.1;

/// Hits of the requests that are lost by admission, in points; below 0: won.
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
        " Writing what is asked for again spares {:.0f} % of the writes and {} against writing "
        "everything.",
        100 * writes_saved(counts, everything), hits);
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
        const auto* everything = table.everything();
        if (everything && everything->written_bytes() == 0) {
            out += " It took nothing: no object of the log fits into it.";
        } else if (everything) {
            out += about_admission(*counts, *everything);
            loses = loses || lost_points(*counts, *everything) > kPointsThatMatter;
            ++compared;
        }
        out += '\n';
    }
    if (compared == 0) return out;
    return out + (loses ? "Where hits matter more than writes: \"disk_admission\": \"always\".\n"
                        : "So \"disk_admission\" may stay \"second_request\", the default.\n");
}

}  // namespace measure
