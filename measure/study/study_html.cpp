#include "measure/study/study_html.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "measure/report/numbers.hpp"
#include "measure/study/study_charts.hpp"
#include "measure/study/study_report.hpp"

namespace measure {
namespace {

constexpr const char* kStyle = R"(
:root { color-scheme: light dark; --paper: #fff; --ink: #1d2127; --faint: #5a636e; --grid: #dde1e6;
  --c0: #0b62a4; --c1: #b3410e; --c2: #2a7d2e; --c3: #7a3ea1; --c4: #8a6d00; --c5: #b0246a;
  --c6: #0a7f86; --c7: #555d66; }
@media (prefers-color-scheme: dark) { :root { --paper: #15181c; --ink: #e4e7ea; --faint: #a3acb6;
  --grid: #353c44; --c0: #6db6f2; --c1: #ff9a66; --c2: #7fd184; --c3: #c99bec; --c4: #e0c14a;
  --c5: #f58ab8; --c6: #5fd0d6; --c7: #b4bcc5; } }
body { background: var(--paper); color: var(--ink); margin: 2rem auto; padding: 0 1rem;
  max-width: 62rem; font: 16px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.6rem; } h2 { font-size: 1.2rem; margin-top: 2.5rem; }
.chart { width: 100%; height: auto; } .chart text { fill: var(--ink); font-size: 13px; }
.chart .small { fill: var(--faint); font-size: 11px; } .chart polyline { stroke-width: 2; }
.chart .grid { stroke: var(--grid); } .chart .axis { fill: none; stroke: var(--ink);
  stroke-width: 1; }
.legend { list-style: none; display: flex; flex-wrap: wrap; gap: .2rem 1.4rem; padding: 0; }
.legend svg { vertical-align: middle; }
.wide { overflow-x: auto; margin: 1rem 0; } table { border-collapse: collapse; font-size: .8rem;
  font-variant-numeric: tabular-nums; } caption { text-align: left; color: var(--faint); }
th, td { padding: .15rem .4rem; text-align: right; border-bottom: 1px solid var(--grid); }
th { vertical-align: bottom; overflow-wrap: normal; } td { white-space: nowrap; }
th:first-child, td:first-child { text-align: left; white-space: nowrap; }
td[colspan] { text-align: left; white-space: normal; }
dl { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: 0 1rem; }
  dt { color: var(--faint); } dd { margin: 0; overflow-wrap: anywhere; }
pre { background: color-mix(in srgb, var(--ink) 6%, transparent); padding: 1rem;
  overflow-x: auto; white-space: pre-wrap; } summary { cursor: pointer; color: var(--faint); }
)";

constexpr const char* kColumns[] = {"local hits %",    "peer hits %",   "all hits %",
                                    "against ideal %", "byte hits %",   "false misses %",
                                    "false hits",      "announcements", "their bytes",
                                    "queries",         "their bytes",   "memory per proxy"};

std::string cell(const std::string& text) {
    return "<td>" + escaped(text) + "</td>";
}

std::string figure(double value) {
    return cell(figure_text(value));
}

void write_rows(const Study& study, const StudyTable& table, std::string& out) {
    const auto* ideal = ideal_of(study, table);
    for (const auto& line : table.lines) {
        const auto& row = study.row(line);
        if (!row.counts) {
            if (!row.refused.empty())
                out += fmt::format("<tr><td>{}</td><td colspan=\"{}\">{}</td></tr>\n",
                                   escaped(line.title), std::size(kColumns), escaped(row.refused));
            continue;
        }
        const auto each = per_request(*row.counts);
        out += "<tr>" + cell(line.title) + cell(fmt::format("{:.2f}", each.local * 100)) +
               cell(fmt::format("{:.2f}", each.peer * 100)) +
               cell(fmt::format("{:.2f}", each.total * 100)) +
               cell(ideal ? against_ideal(*row.counts, *ideal) : "") +
               cell(fmt::format("{:.2f}", each.total_bytes * 100)) +
               cell(fmt::format("{:.3f}", each.false_misses * 100)) + figure(each.false_hits) +
               figure(each.announcements) + figure(each.announcement_bytes) + figure(each.queries) +
               figure(each.query_bytes) +
               cell(row.counts->summary_bytes == 0
                        ? "0"
                        : size_text(static_cast<double>(row.counts->summary_bytes))) +
               "</tr>\n";
    }
}

void write_table(const Study& study, const StudyTable& table, std::string& out) {
    const bool any = std::any_of(table.lines.begin(), table.lines.end(), [&](const auto& line) {
        return study.row(line).counts || !study.row(line).refused.empty();
    });
    if (!any) return;
    out += "<div class=\"wide\"><table><caption>" + escaped(describe(study, table)) +
           "</caption>\n<tr><th>scheme</th>";
    for (const char* column : kColumns) out += fmt::format("<th>{}</th>", column);
    out += "</tr>\n";
    write_rows(study, table, out);
    out += "</table></div>\n";
}

/// The figures that a chart shows.
void write_points(const Chart& chart, std::string& out) {
    std::map<double, std::vector<std::string>> lines;  // by x; the cells of each series
    const bool named =
        std::any_of(chart.series.begin(), chart.series.end(), [](const Chart::Series& series) {
            return !series.points.empty() && !series.points.front().name.empty();
        });
    out += "<details><summary>The figures</summary><div class=\"wide\"><table><caption>" +
           escaped(named ? chart.title : chart.y.label) + "</caption>\n";
    if (named) {
        out += fmt::format("<tr><th></th><th>{}</th><th>{}</th></tr>\n", escaped(chart.x.label),
                           escaped(chart.y.label));
        for (const auto& series : chart.series)
            for (const auto& point : series.points)
                out += "<tr>" + cell(point.name) + figure(point.x) + figure(point.y) + "</tr>\n";
    } else {
        out += fmt::format("<tr><th>{}</th>", escaped(chart.x.label));
        for (std::size_t i = 0; i < chart.series.size(); ++i) {
            out += fmt::format("<th>{}</th>", escaped(chart.series[i].name));
            for (const auto& point : chart.series[i].points) {
                auto& cells = lines[point.x];
                cells.resize(chart.series.size());
                cells[i] = figure_text(point.y);
            }
        }
        out += "</tr>\n";
        for (const auto& [x, cells] : lines) {
            out += "<tr>" + cell(tick_text(x));
            for (const auto& text : cells) out += cell(text);
            out += "</tr>\n";
        }
    }
    out += "</table></div></details>\n";
}

/// Returns true if the x axis has more than one place.
bool is_a_curve(const Chart& chart) {
    std::set<double> places;
    for (const auto& series : chart.series)
        for (const auto& point : series.points) places.insert(point.x);
    return places.size() > 1;
}

void write_finding(const Finding& finding, std::string& out) {
    out += "<section><h2>" + escaped(finding.chart.title) + "</h2>\n";
    if (!finding.words.empty()) out += "<p>" + escaped(finding.words) + "</p>\n";
    out += is_a_curve(finding.chart) ? svg_of(finding.chart) : svg_bars_of(finding.chart);
    write_points(finding.chart, out);
    out += "</section>\n";
}

constexpr const char* kWords =
    R"(<p>Local and peer hits, false misses: parts of the requests. Against ideal: hits more or less than
with a directory that is right at once. False hits, announcements, queries and bytes: for each request;
queries are those in vain, and all of ICP's and the paper's schemes, which ask before they fetch. A
false miss is a request whose object a peer had, while no summary said so; one that said so and was
too far to be asked makes none. Memory: of one proxy, for its own summary and those of its peers.</p>
<p>Simulated with hearsay's own code for eviction, summaries and announcements, in virtual time. Each URL is
one object that stays fresh, so a real cluster has fewer hits, with and without sharing.</p>
)";

}  // namespace

namespace {

/// Indented examples stand below the reason that they belong to.
std::string notes_html(const LogFacts& log) {
    std::string out, examples;
    const auto close = [&] {
        if (!examples.empty()) out += "<pre>" + examples + "</pre>\n";
        examples.clear();
    };
    for (const auto& each : notes_on(log)) {
        if (each.starts_with(' ')) {
            examples += escaped(each) + "\n";
            continue;
        }
        close();
        out += "<p>" + escaped(each) + ".</p>\n";
    }
    close();
    return out;
}

}  // namespace

std::string study_html(const Study& study, const std::string& advice, const PageFacts& facts) {
    auto out = page_begin("What sharing would do", kStyle) + "<h1>What sharing would do</h1>\n";
    out += facts_html(facts);
    out += "<p>" + escaped(study.log.title) + ": " + escaped(describe(study.log)) + ".</p>\n";
    out += notes_html(study.log);
    if (study.log.synthetic)
        out +=
            "<p><strong>A made-up workload: good for comparing, not for deciding.</strong></p>\n";
    if (study.stopped)
        out += "<p><strong>Stopped early: the page shows the finished rows.</strong></p>\n";
    if (!advice.empty())
        out += "<section><h2>Advice</h2>\n<pre>" + escaped(advice) + "</pre></section>\n";
    for (const auto& finding : findings_of(study)) write_finding(finding, out);
    out += "<section><h2>All figures</h2>\n";
    for (const auto& table : study.tables) write_table(study, table, out);
    out += kWords;
    return out + "</section>\n</body></html>\n";
}

}  // namespace measure
