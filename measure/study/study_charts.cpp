#include "measure/study/study_charts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "measure/report/numbers.hpp"
#include "measure/study/scheme_name.hpp"
#include "measure/study/study_report.hpp"

namespace measure {
namespace {

using Topic = StudyTable::Topic;

/// Appends to the series of that name, and makes it if it is missing.
void add_point(Chart& chart, const std::string& series, Chart::Point point) {
    auto at = std::find_if(chart.series.begin(), chart.series.end(),
                           [&](const Chart::Series& each) { return each.name == series; });
    if (at == chart.series.end()) {
        Chart::Series fresh;
        fresh.name = series;
        at = chart.series.insert(chart.series.end(), std::move(fresh));
    }
    at->points.push_back(std::move(point));
}

void sort_by_x(Chart& chart) {
    for (auto& series : chart.series)
        std::stable_sort(series.points.begin(), series.points.end(),
                         [](const auto& a, const auto& b) { return a.x < b.x; });
}

/// Name of a series without its threshold.
std::string family(const SimulationConfig& config) {
    const auto title = title_of(config);
    return title.substr(0, title.find(','));
}

const Chart::Series* series(const Chart& chart, const std::string& name) {
    const auto at = std::find_if(chart.series.begin(), chart.series.end(),
                                 [&](const Chart::Series& each) { return each.name == name; });
    return at == chart.series.end() || at->points.empty() ? nullptr : &*at;
}

/// For charts whose x axis shows proxies.
std::string proxies_of(const Chart::Point& point) {
    return proxies_text(static_cast<std::size_t>(point.x));
}

/// The kind that the study is about.
std::string own_kind(const Study& study) {
    const auto* table = study.table(Topic::announce);
    return table && !table->lines.empty() ? title_of(study.row(table->lines.front()).config)
                                          : std::string(summary::name(summary::kDefaultKind));
}

/// Calls `take` for all rows with counts, in tables of this sort, that `wanted` accepts.
void for_each_row(const Study& study, Topic about,
                  const std::function<bool(const StudyTable&)>& wanted,
                  const std::function<void(const StudyTable&, const StudyRow&)>& take) {
    for (const auto& table : study.tables) {
        if (table.about != about || !wanted(table)) continue;
        for (const auto& line : table.lines)
            if (study.row(line).counts) take(table, study.row(line));
    }
}

Finding by_threshold(const Study& study, double (*value)(const RequestRates&), const char* title,
                     const char* label, const char* unit) {
    Finding out;
    out.chart.title = title;
    out.chart.x = {"announcement threshold, % of the objects", true};
    out.chart.y = {label, true};
    for_each_row(
        study, Topic::staleness, [](const StudyTable&) { return true; },
        [&](const StudyTable&, const StudyRow& row) {
            add_point(out.chart, family(row.config),
                      {row.config.announce_changed * 100, value(per_request(*row.counts)), {}});
        });
    sort_by_x(out.chart);
    const auto* paper = series(out.chart, "Bloom 16");
    if (!paper) return out;
    const auto least_of = [&](const Chart::Series& each) { return each.points.front(); };
    const auto& at = least_of(*paper);
    std::string ours;
    for (const auto kind : summary::kKinds) {
        const auto* own = series(out.chart, std::string(summary::name(kind)));
        if (!own) continue;
        ours += fmt::format("{}{} {}", ours.empty() ? "" : ", ", summary::name(kind),
                            figure_text(least_of(*own).y));
    }
    out.words = fmt::format(
        "At {:.3g} % the paper's Bloom filters of 16 bits need {} {} per request; {}. At {:.3g} % "
        "they need {}: rarer announcements are larger.",
        at.x, figure_text(at.y), unit, ours.empty() ? "ours were not run" : "ours: " + ours,
        paper->points.back().x, figure_text(paper->points.back().y));
    return out;
}

}  // namespace

Finding hits_by_cache(const Study& study) {
    Finding out;
    out.chart.title = "Hit ratio against cache size";
    out.chart.x = {"all caches together, % of the log's distinct bytes", true};
    out.chart.y = {"requests that are hits, %", false};
    if (study.tables.empty()) return out;
    const auto proxies = study.tables.front().proxies;
    const auto kind = own_kind(study);
    for_each_row(
        study, Topic::schemes, [&](const StudyTable& table) { return table.proxies == proxies; },
        [&](const StudyTable&, const StudyRow& row) {
            const auto& config = row.config;
            const bool drawn = config.scheme == Scheme::none || config.scheme == Scheme::icp ||
                               config.scheme == Scheme::consistent_hashing ||
                               config.scheme == Scheme::single_cache ||
                               (config.scheme == Scheme::summary && title_of(config) == kind);
            if (!drawn) return;
            const auto all = config.cache_bytes * config.proxies;
            add_point(out.chart, title_of(config),
                      {ratio(all, study.log.distinct_bytes) * 100,
                       per_request(*row.counts).total * 100,
                       {}});
        });
    sort_by_x(out.chart);
    const auto *alone = series(out.chart, "no sharing"), *ours = series(out.chart, kind);
    if (!alone || !ours) return out;
    const auto at = [](const Chart::Point& shared, const Chart::Point& apart) {
        return fmt::format("{:.1f} % instead of {:.1f} % where the caches hold {}", shared.y,
                           apart.y, of_distinct_text(shared.x / 100));
    };
    out.words = fmt::format("With {}, sharing by summaries ({}) answers {}", proxies_text(proxies),
                            kind, at(ours->points.front(), alone->points.front()));
    if (ours->points.size() > 1)
        out.words += ", and " + at(ours->points.back(), alone->points.back());
    out.words += '.';
    return out;
}

Finding messages_by_threshold(const Study& study) {
    return by_threshold(
        study, [](const RequestRates& each) { return each.messages(); },
        "Messages per request against staleness", "messages per request", "messages");
}

Finding bytes_by_threshold(const Study& study) {
    return by_threshold(
        study, [](const RequestRates& each) { return each.message_bytes(); },
        "Bytes per request against staleness", "message bytes per request", "bytes");
}

Finding false_hits_by_proxies(const Study& study) {
    Finding out;
    out.chart.title = "False hits against the number of proxies";
    out.chart.x = {"proxies", true};
    out.chart.y = {"peer requests in vain per request", true};
    if (study.tables.empty()) return out;
    const auto cache = study.tables.front().cache;
    for_each_row(
        study, Topic::schemes, [&](const StudyTable& table) { return table.cache == cache; },
        [&](const StudyTable& table, const StudyRow& row) {
            if (!has_threshold(row.config.scheme) && row.config.scheme != Scheme::squid_digest)
                return;
            add_point(
                out.chart, family(row.config),
                {static_cast<double>(table.proxies), per_request(*row.counts).false_hits, {}});
        });
    sort_by_x(out.chart);
    const auto *paper = series(out.chart, "Bloom 16"), *ours = series(out.chart, own_kind(study));
    if (!paper || !ours) return out;
    out.words = fmt::format(
        "With {} Bloom filters of 16 bits ask {} times per request in vain, our summaries ({}) {}",
        proxies_of(paper->points.front()), figure_text(paper->points.front().y), own_kind(study),
        figure_text(ours->points.front().y));
    if (ours->points.size() > 1)
        out.words +=
            fmt::format("; with {} {} and {}", proxies_of(paper->points.back()),
                        figure_text(paper->points.back().y), figure_text(ours->points.back().y));
    out.words +=
        ". Ours are sized for a budget over all peers, so that more peers do not mean more false "
        "hits.";
    return out;
}

Finding lost_hits_by_messages(const Study& study) {
    Finding out;
    out.chart.title = "What announcing less often saves, and costs";
    out.chart.x = {"messages per request", true};
    out.chart.y = {"hits lost against a directory that is right at once, %", false};
    const auto* table = study.table(Topic::announce);
    const auto* ideal = table ? ideal_of(study, *table) : nullptr;
    if (!ideal) return out;
    const Chart::Point* dear = nullptr;
    const Chart::Point* cheap = nullptr;
    for (const auto& line : table->lines) {
        const auto& row = study.row(line);
        if (!row.counts) continue;
        const auto& config = row.config;
        add_point(out.chart,
                  &line == &table->lines.front() ? "present setting"
                  : config.announce_changed >= 1 ? "by delay after the first change"
                                                 : "by threshold, or after a minute",
                  {per_request(*row.counts).messages(), lost_hits(*row.counts, *ideal) * 100,
                   line.title});
    }
    sort_by_x(out.chart);
    for (const auto& each : out.chart.series) {
        for (const auto& point : each.points) {
            if (!dear || point.x > dear->x) dear = &point;
            if (!cheap || point.x < cheap->x) cheap = &point;
        }
    }
    if (!dear || !cheap) return out;
    out.words = fmt::format(
        "Announcing most often (after {}) takes {} messages per request and loses {:.2f} % of the "
        "hits; least often (after {}) {} messages and {:.2f} %. ICP would send {}.",
        dear->name, figure_text(dear->x), std::max(dear->y, 0.0), cheap->name,
        figure_text(cheap->x), std::max(cheap->y, 0.0),
        figure_text(per_request(*ideal).messages()));
    return out;
}

std::vector<Finding> findings_of(const Study& study) {
    std::vector<Finding> out;
    for (auto* make : {&hits_by_cache, &messages_by_threshold, &bytes_by_threshold,
                       &false_hits_by_proxies, &lost_hits_by_messages}) {
        auto finding = make(study);
        if (!finding.chart.series.empty()) out.push_back(std::move(finding));
    }
    return out;
}

}  // namespace measure
