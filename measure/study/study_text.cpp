#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>

#include "measure/report/numbers.hpp"
#include "measure/report/reading_text.hpp"
#include "measure/report/wrapped.hpp"
#include "measure/report/writer.hpp"
#include "measure/study/study_report.hpp"

namespace measure {
namespace {

constexpr const char* kStudyLegend =
    R"(local, peer: hits in % of the requests. vs ideal: % of hits more or less than with a directory that
is right at once (ICP's). false miss: % of the requests whose object a peer had, and no summary of
it said so; one that said so and was too far to be asked makes none. false hits: peer requests in
vain. messages and bytes are for each request; queries are those in vain, and all of ICP's and the
paper's schemes, which ask before they fetch. memory: one proxy's, for its own summary and its
peers'.)";

void write_columns(Writer& out) {
    out.heading(fmt::format("{:<22} {:>5} {:>5} {:>5} {:>6} {:>6} {:>6} {:>13} {:>13} {:>8}",
                            "scheme", "local", "peer", "total", "vs", "false", "false",
                            "announcements", "queries", "memory"));
    out.heading(fmt::format("{:<22} {:>5} {:>5} {:>5} {:>6} {:>6} {:>6} {:>6} {:>6} {:>6} {:>6}",
                            "", "", "", "", "ideal", "miss", "hits", "msgs", "bytes", "msgs",
                            "bytes"));
    out.heading(fmt::format("{:<22} {:>5} {:>5} {:>5} {:>6} {:>6} {:>6} {:>6} {:>6} {:>6} {:>6}",
                            "", "%", "%", "%", "%", "%", "/req.", "/req.", "/req.", "/req.",
                            "/req."));
}

std::string short_figure(double value) {
    if (value == 0) return "0";
    if (value < 0.0001) return "<.0001";
    if (value < 10) return fmt::format("{:.4f}", value);
    return fmt::format("{:.{}f}", value, value < 1000 ? 1 : 0);
}

/// Precondition: the row was run.
void write_row(const std::string& title, const StudyRow& row, const SimulationCounts* ideal,
               Writer& out) {
    const auto each = per_request(*row.counts);
    const auto against = ideal ? against_ideal(*row.counts, *ideal) : std::string();
    out.line("{:<22} {:>5.2f} {:>5.2f} {:>5.2f} {:>6} {:>6.3f} {:>6} {:>6} {:>6} {:>6} {:>6} {:>8}",
             title, each.local * 100, each.peer * 100, each.total * 100, against,
             each.false_misses * 100, short_figure(each.false_hits),
             short_figure(each.announcements), short_figure(each.announcement_bytes),
             short_figure(each.queries), short_figure(each.query_bytes),
             row.counts->summary_bytes == 0
                 ? "0"
                 : size_text(static_cast<double>(row.counts->summary_bytes)));
}

/// All counts, for a row that stands alone.
void write_counts(const SimulationCounts& counts, Writer& out) {
    const auto line = [&](const char* what, std::uint64_t count) {
        out.line("  {:<34} {:>18} {:>12}", what, grouped(count),
                 short_figure(ratio(count, counts.requests)));
    };
    out.line("  {:<34} {:>18} {:>12}", "", "", "per request");
    line("requests", counts.requests);
    line("local hits", counts.local_hits);
    line("  of these waited for a fetch", counts.joined);
    line("peer hits", counts.peer_hits);
    line("hits that the origin confirmed", counts.validations);
    line("stale copies that peers renewed", counts.renewals_taken);
    line("bytes asked for", counts.bytes);
    line("  of these local hits", counts.local_hit_bytes);
    line("  of these peer hits", counts.peer_hit_bytes);
    line("peer requests", counts.peer_requests);
    line("false hits, by collision", counts.false_hits_collision);
    line("false hits, evicted since", counts.false_hits_evicted);
    line("peers' copies not fresh", counts.stale_hits);
    line("peer requests cut off", counts.failures);
    line("peer requests despite a denial", counts.overruled);
    line("peer requests to test a denial", counts.samples);
    line("origin asked beside a peer", counts.origin_beside);
    line("origin asked twice at a time", counts.doubled);
    line("misses that asked who fetches", counts.meetings);
    line("  of these followed a fetch", counts.followed);
    line("peers too far to be asked", counts.peers_too_far);
    line("false misses", counts.false_misses);
    line("announcements", counts.announcements);
    line("  of these snapshots", counts.snapshots);
    line("announcement bytes", counts.announcement_bytes);
    line("queries in vain, or ICP's", counts.query_messages);
    line("query bytes", counts.query_bytes);
    line("renewals told", counts.renewals_told);
    line("objects stored", counts.stored);
    line("objects evicted", counts.evicted);
    out.line("  {:<34} {:>18}", "bytes of summaries at one proxy", grouped(counts.summary_bytes));
    out.line("  {:<34} {:>18.0f} {:>12}", "milliseconds waited", counts.waited_ms,
             short_figure(per_request(counts).waited_ms));
}

/// The rows of the table that cannot be simulated, each reason once.
void write_refused(const Study& study, const StudyTable& table, Writer& out) {
    std::map<std::string, std::string> refused;  // titles by reason
    for (const auto& line : table.lines) {
        const auto& row = study.row(line);
        if (row.counts || row.refused.empty()) continue;
        auto& titles = refused[row.refused];
        titles += (titles.empty() ? "" : "; ") + line.title;
    }
    for (const auto& [why, titles] : refused)
        out.append(wrapped(fmt::format("not simulated, as {}: {}", why, titles)));
}

}  // namespace

std::string study_text(const Study& study, bool colour, const std::string& words, bool tables) {
    Writer out(colour);
    out.heading(study.log.title);
    out.line("{}", describe(study.log));
    out.append(reading_text(study.log));
    if (study.stopped) out.line("STOPPED EARLY: shows the finished rows");
    if (!words.empty()) out.append("\n" + words);
    if (!tables) return out.take();
    const auto shown = [&](const StudyTable::Line& line) {
        return study.row(line).counts || !study.row(line).refused.empty();
    };
    std::map<std::string, std::string> shown_tables;  // rows, and their title
    for (const auto& table : study.tables) {
        if (std::none_of(table.lines.begin(), table.lines.end(), shown)) continue;
        out.line("");
        const auto title = describe(study, table);
        out.heading(title);
        const auto* ideal = ideal_of(study, table);
        Writer rows(colour);
        for (const auto& line : table.lines) {
            const auto& row = study.row(line);
            if (!row.counts) continue;
            write_row(line.title, row, ideal, rows);
            if (table.about == StudyTable::Topic::asked) write_counts(*row.counts, rows);
        }
        write_refused(study, table, rows);
        const auto [same, is_new] = shown_tables.try_emplace(rows.take(), title);
        if (!is_new) {
            out.line("the same as of {}", same->second);
            continue;
        }
        write_columns(out);
        out.append(same->first);
    }
    out.line("");
    out.line("{}", kStudyLegend);
    return out.take();
}

}  // namespace measure
