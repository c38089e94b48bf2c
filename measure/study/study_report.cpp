#include "measure/study/study_report.hpp"

#include <fmt/format.h>

#include <cmath>

#include "measure/report/numbers.hpp"
#include "measure/report/reading_text.hpp"
#include "measure/simulate/objects.hpp"

namespace measure {
namespace {

/// From here on a factor reads better than a percentage.
constexpr double kManyTimes = 10;

}  // namespace

RequestRates per_request(const SimulationCounts& counts) {
    const auto each = [&](double value) {
        return counts.requests == 0 ? 0 : value / static_cast<double>(counts.requests);
    };
    const auto of_requests = [&](std::uint64_t part) { return ratio(part, counts.requests); };
    RequestRates out;
    out.local = of_requests(counts.local_hits);
    out.peer = of_requests(counts.peer_hits);
    out.total = of_requests(counts.hits());
    out.local_bytes = ratio(counts.local_hit_bytes, counts.bytes);
    out.total_bytes = ratio(counts.local_hit_bytes + counts.peer_hit_bytes, counts.bytes);
    out.false_misses = of_requests(counts.false_misses);
    out.false_hits = of_requests(counts.false_hits());
    out.announcements = of_requests(counts.announcements);
    out.announcement_bytes = of_requests(counts.announcement_bytes);
    out.queries = of_requests(counts.query_messages);
    out.query_bytes = of_requests(counts.query_bytes);
    out.renewals = of_requests(counts.renewals_told);
    out.waited_ms = each(counts.waited_ms);
    return out;
}

double mean_object_bytes(const LogFacts& log, bool unit_objects) {
    if (unit_objects || log.objects == 0) return 1;
    return static_cast<double>(log.distinct_bytes) / static_cast<double>(log.objects) +
           static_cast<double>(kStoredHeadBytes);
}

double lost_hits(const SimulationCounts& counts, const SimulationCounts& ideal) {
    return ideal.hits() == 0 ? 0 : 1 - ratio(counts.hits(), ideal.hits());
}

std::string against_ideal(const SimulationCounts& counts, const SimulationCounts& ideal) {
    const double percent = std::round(-10'000 * lost_hits(counts, ideal)) / 100;
    return percent == 0 ? "0" : fmt::format("{:+.2f}", percent);
}

const SimulationCounts* ideal_of(const Study& study, const StudyTable& table) {
    for (const auto& each : study.tables) {
        if (each.about != StudyTable::Topic::schemes || each.proxies != table.proxies ||
            each.cache != table.cache)
            continue;
        for (const auto& line : each.lines) {
            const auto& row = study.row(line);
            if (row.config.scheme == Scheme::icp && row.counts) return &*row.counts;
        }
    }
    return nullptr;
}

std::string describe(const Study& study, const StudyTable& table) {
    const auto each = table.cache.of_each(study.log.distinct_bytes, table.proxies);
    const auto part = ratio(each * table.proxies, study.log.distinct_bytes);
    return fmt::format("{}{} {} ({} in all): {}", proxies_text(table.proxies),
                       table.proxies == 1 ? " with" : ", each with",
                       size_text(static_cast<double>(each)), of_distinct_text(part),
                       subject(table.about));
}

std::string of_distinct_text(double part) {
    return (part < kManyTimes
                ? fmt::format("{:.3g}% of", part * 100)
                : grouped(static_cast<std::uint64_t>(std::llround(part))) + " times") +
           " the distinct bytes";
}

std::string proxies_text(std::size_t proxies) {
    return proxies == 1 ? "1 proxy" : grouped(proxies) + " proxies";
}

std::string_view subject(StudyTable::Topic about) {
    switch (about) {
        case StudyTable::Topic::schemes:
            return "all schemes";
        case StudyTable::Topic::staleness:
            return "announcement thresholds";
        case StudyTable::Topic::announce:
            return "announcement delays";
        case StudyTable::Topic::copies:
            return "copies and eviction";
        case StudyTable::Topic::asked:
            return "as asked";
    }
    return {};
}

std::string describe(const LogFacts& log) {
    return fmt::format("{} of {} for {}, {} ({} distinct), in {}", amount(log.requests, "request"),
                       amount(log.clients, "client"), amount(log.objects, "object"),
                       size_text(static_cast<double>(log.bytes)),
                       size_text(static_cast<double>(log.distinct_bytes)), span_text(log.span));
}

std::vector<std::string> notes_on(const LogFacts& log) {
    return lines_about(log);
}

std::string span_text(std::chrono::milliseconds span) {
    const double seconds = std::chrono::duration<double>(span).count();
    if (seconds < 120) return fmt::format("{:.3g} s", seconds);
    if (seconds < 7'200) return fmt::format("{:.1f} min", seconds / 60);
    if (seconds < 172'800) return fmt::format("{:.1f} h", seconds / 3'600);
    return fmt::format("{:.1f} days", seconds / 86'400);
}

}  // namespace measure
