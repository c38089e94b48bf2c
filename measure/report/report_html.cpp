#include "measure/report/report_html.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "measure/report/chart.hpp"
#include "proxy/admin/dashboard_files.hpp"

namespace measure {
namespace {

constexpr std::size_t kMaxTableBytes = 24 * 1024;  // of a report's text
constexpr std::size_t kMaxNameBytes = 64;
constexpr std::size_t kMaxTitleBytes = 1024;
constexpr std::size_t kMatrixNodes = 12;  // as in the dashboard
constexpr std::size_t kPairs = 20;        // of more nodes
constexpr unsigned kShades = 9;

/// The marks of charts get the dashboard's colours of the outcomes, in the order of
/// ReportedOutcome.
constexpr const char* kReportStyle = R"(
:root { --c0: var(--local_hit); --c1: var(--peer_hit); --c2: var(--origin_fetch); --c3: var(--uncacheable);
  --c4: var(--accent); --c5: var(--outcome-error); --ink: var(--text); --grid: var(--rail); }
main { max-width: 75rem; margin: 0 auto; } main > section { margin-bottom: 2rem; }
svg.chart { width: 100%; height: auto; } svg.chart text { fill: var(--text); font-size: 13px; }
svg.chart .grid { display: inline; stroke: var(--rail); } svg.chart polyline { stroke-width: 2; }
svg.chart .axis { fill: none; stroke: var(--dim); stroke-width: 1; }
ul.legend { list-style: none; margin: 0; padding: 0; }
pre { margin: 0; overflow-x: auto; font: .8125rem/1.4 ui-monospace, "DejaVu Sans Mono", monospace; }
)";

std::string page_style() {
    std::string out;
    for (const auto& file : proxy::dashboard_files())
        if (file.name == "dashboard.css") out = file.content;
    return out + kReportStyle;
}

std::string outcome_name(ReportedOutcome outcome) {
    std::string out(to_string(outcome));
    std::replace(out.begin(), out.end(), '_', ' ');
    return out;
}

/// Rows of cells, each of them escaped, below a heading.
struct Table {
    std::string caption;
    std::vector<std::string> heads;
    std::vector<std::vector<std::string>> rows;
};

std::string html_of(const Table& table) {
    auto out = "<div class=\"scroll\"><table><caption class=\"hidden\">" + escaped(table.caption) +
               "</caption>\n<thead><tr>";
    for (std::size_t i = 0; i < table.heads.size(); ++i)
        out += fmt::format("<th scope=\"col\"{}>{}</th>", i > 0 ? " class=\"number\"" : "",
                           escaped(table.heads[i]));
    out += "</tr></thead>\n<tbody>\n";
    for (const auto& row : table.rows) {
        for (std::size_t i = 0; i < row.size(); ++i)
            out += i == 0 ? "<tr><th scope=\"row\">" + escaped(row[i]) + "</th>"
                          : fmt::format("<td class=\"number\" data-name=\"{}\">{}</td>",
                                        escaped(table.heads[i]), escaped(row[i]));
        out += "</tr>\n";
    }
    return out + "</tbody></table></div>\n";
}

std::string card(std::string_view title, const std::string& content) {
    return fmt::format("<div class=\"card\"><h3>{}</h3>\n{}</div>\n", title, content);
}

std::string percent_text(std::uint64_t part, std::uint64_t whole) {
    return fmt::format("{:.1f} %", percent(part, whole));
}

std::string tiles_html(const Report& report) {
    const auto all = totals_of(report);
    std::string out = "<div class=\"tiles\">\n";
    const auto add = [&](const char* name, const std::string& value, const std::string& more) {
        out += fmt::format(
            "<div class=\"tile\"><div class=\"name\">{}</div><div class=\"value\">{}</div>"
            "<div class=\"more\">{}</div></div>\n",
            name, escaped(value), escaped(more));
    };
    const auto& ideal = report.ideal.total;
    add("Hit rate", percent_text(all.hits(), all.requests),
        fmt::format("ideal {:.1f} % with sharing, {:.1f} % without", ideal.shared_ratio() * 100,
                    ideal.local_ratio() * 100));
    add("Local hits", percent_text(all.local_hits, all.requests), grouped(all.local_hits));
    add("Peer hits", percent_text(all.peer_hits, all.requests), grouped(all.peer_hits));
    add("Origin fetches", percent_text(all.origin_fetches, all.requests),
        grouped(all.origin_fetches));
    add("Errors", grouped(all.errors), "of " + amount(all.requests, "request"));
    return out + "</div>\n";
}

/// The parts of the requests of each part of the run, in percent.
Chart course_chart(const Report& report) {
    Chart chart;
    chart.title = "Hit rates over the course of the run";
    chart.x.label = "seconds since the begin";
    chart.y.label = "% of the requests";
    const auto parts = report.course.parts();
    const auto seconds = std::chrono::duration<double>(report.course.length()).count();
    for (std::size_t k = 0; k <= kReportedOutcomes; ++k) {
        const bool is_failure = k == kReportedOutcomes;
        auto& series = chart.series.emplace_back();
        series.name = is_failure ? "failed" : outcome_name(static_cast<ReportedOutcome>(k));
        bool any = k <= static_cast<std::size_t>(ReportedOutcome::origin_fetch);
        for (std::size_t i = 0; i < parts.size(); ++i) {
            if (parts[i].requests() == 0) continue;
            const auto count = is_failure ? parts[i].failures : parts[i].answers[k];
            any = any || count > 0;
            const auto end = std::min(static_cast<double>(i + 1) * seconds, report.elapsed_seconds);
            series.points.push_back({end, percent(count, parts[i].requests()), {}});
        }
        // An empty series keeps the colours of the others in place, and draws nothing.
        if (!any) series.points.clear();
    }
    return chart;
}

std::string course_html(const Report& report) {
    const auto chart = course_chart(report);
    const auto& first = chart.series.front().points;
    if (first.empty()) return {};
    Table table{"Hit rates over the course of the run", {"until second"}, {}};
    for (const auto& point : first) table.rows.push_back({fmt::format("{:.1f}", point.x)});
    for (const auto& series : chart.series) {
        if (series.points.empty()) continue;
        table.heads.push_back(series.name + ", %");
        for (std::size_t i = 0; i < series.points.size(); ++i)
            table.rows[i].push_back(fmt::format("{:.1f}", series.points[i].y));
    }
    return card(chart.title, svg_of(chart) + "<details><summary>As a table</summary>" +
                                 html_of(table) + "</details>\n");
}

std::array<Histogram, kReportedOutcomes> latencies_of(const Report& report) {
    std::array<Histogram, kReportedOutcomes> all;
    for (const auto& row : report.rows)
        for (std::size_t k = 0; k < kReportedOutcomes; ++k)
            all[k].add(row.seen.outcomes[k].latency);
    return all;
}

double milliseconds_of(const Histogram& histogram, double quantile) {
    return static_cast<double>(histogram.quantile(quantile).count()) / 1000;
}

std::string latency_html(const Report& report) {
    constexpr double kShares[] = {0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999};
    const auto all = latencies_of(report);
    Chart chart;
    chart.title = "Latency by outcome";
    chart.x.label = "% of the answers that came within this time";
    chart.y = {"milliseconds", true};
    Table table{chart.title, {"outcome", "answers", "p50 ms", "p90 ms", "p99 ms"}, {}};
    for (std::size_t k = 0; k < kReportedOutcomes; ++k) {
        auto& series = chart.series.emplace_back();
        series.name = outcome_name(static_cast<ReportedOutcome>(k));
        if (all[k].count() == 0) continue;
        for (const auto share : kShares)
            series.points.push_back({share * 100, milliseconds_of(all[k], share), {}});
        auto& row = table.rows.emplace_back();
        row = {series.name, grouped(all[k].count())};
        for (const auto share : {0.5, 0.9, 0.99})
            row.push_back(fmt::format("{:.2f}", milliseconds_of(all[k], share)));
    }
    if (table.rows.empty()) return {};
    return card(chart.title, svg_of(chart) + html_of(table));
}

/// 0 for no hits, else 1 to kShades by the square root, as in the dashboard.
unsigned shade(std::uint64_t hits, std::uint64_t most) {
    if (hits == 0) return 0;
    const auto part = static_cast<double>(hits) / static_cast<double>(most);
    return 1 + static_cast<unsigned>(std::lround((kShades - 1) * std::sqrt(part)));
}

std::string cells_html(const std::vector<std::string>& names, const std::vector<GivenHits>& given) {
    std::uint64_t most = 0;
    for (const auto& each : given) most = std::max(most, each.hits);
    std::string out =
        "<div class=\"scroll\"><table class=\"matrix\"><caption class=\"hidden\">Peer hits: rows "
        "asked, columns gave</caption>\n<thead><tr><th scope=\"col\">asked \\ gave</th>";
    for (const auto& name : names)
        out += "<th scope=\"col\" class=\"number\">" + clipped(name, kMaxNameBytes) + "</th>";
    out += "</tr></thead>\n<tbody>\n";
    for (const auto& asker : names) {
        out += "<tr><th scope=\"row\">" + clipped(asker, kMaxNameBytes) + "</th>";
        for (const auto& giver : names) {
            const auto pair = std::find_if(given.begin(), given.end(), [&](const auto& each) {
                return each.asker == asker && each.giver == giver;
            });
            if (asker == giver)
                out += "<td class=\"self\"><span class=\"hidden\">itself</span></td>";
            else if (pair == given.end())
                out += "<td class=\"number\">?</td>";
            else
                out += fmt::format("<td class=\"number shade{}\">{}</td>", shade(pair->hits, most),
                                   grouped(pair->hits));
        }
        out += "</tr>\n";
    }
    return out + "</tbody></table></div>\n";
}

std::string matrix_html(const Report& report) {
    auto given = given_hits(report);
    if (given.empty()) return {};
    std::vector<std::string> names;
    for (const auto& row : report.rows) names.push_back(row.name);
    if (names.size() <= kMatrixNodes) return card("Who gave whom", cells_html(names, given));
    const auto shown = std::min(kPairs, given.size());
    std::partial_sort(given.begin(), given.begin() + static_cast<std::ptrdiff_t>(shown),
                      given.end(),
                      [](const auto& one, const auto& other) { return one.hits > other.hits; });
    Table table{"Pairs with most peer hits", {"asked", "gave", "peer hits"}, {}};
    for (std::size_t i = 0; i < shown; ++i)
        table.rows.push_back({given[i].asker, given[i].giver, grouped(given[i].hits)});
    return card(fmt::format("Who gave whom: the {} pairs with most peer hits, of {}", shown,
                            grouped(given.size())),
                html_of(table));
}

std::string section_html(const Report& report) {
    auto out = "<section>\n<h2>" + clipped(report.title, kMaxTitleBytes) + "</h2>\n";
    const auto note = [&](const std::string& text) {
        out += "<p class=\"warning note\">" + clipped(text, kMaxTitleBytes) + "</p>\n";
    };
    if (!report.note.empty()) note(report.note);
    if (report.stopped) note("Stopped early: the figures are those of the requests sent so far.");
    out += tiles_html(report);
    out += course_html(report) + "<div class=\"grid\">\n" + matrix_html(report) +
           latency_html(report) + "</div>\n";
    out +=
        card("Table", "<pre>" + clipped(report_text(report, false), kMaxTableBytes) + "</pre>\n");
    return out + "</section>\n";
}

}  // namespace

std::vector<GivenHits> given_hits(const Report& report) {
    std::vector<GivenHits> all;
    for (const auto& row : report.rows) {
        if (!row.counted) continue;
        for (const auto& peer : row.counted->peers) all.push_back({row.name, peer.node, peer.hits});
    }
    return all;
}

std::string report_html(const std::vector<Report>& reports, const PageFacts& facts) {
    auto out = page_begin("hearsay: results of a run", page_style());
    out +=
        "<header><div class=\"bar\"><h1><span class=\"brand\">hearsay</span>: results of a "
        "run</h1></div></header>\n<main>\n<section>" +
        (facts.command.empty() ? std::string() : card("Run", facts_html(facts))) + "</section>\n";
    for (const auto& report : reports) out += section_html(report);
    return out + "</main>\n</body></html>\n";
}

}  // namespace measure
