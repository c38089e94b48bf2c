#include <fmt/format.h>

#include "measure/report/numbers.hpp"
#include "measure/report/reading_text.hpp"
#include "measure/report/wrapped.hpp"
#include "measure/report/writer.hpp"
#include "measure/study/study_report.hpp"
#include "measure/tiers/tiers_study.hpp"

namespace measure {
namespace {

constexpr const char* kTiersLegend =
    R"(memory, disk, hits: in % of the requests; bytes: hits in % of the bytes asked for. written: to the
disk, in % of those; times: as many bytes as were admitted, as some are written again. saved,
lost: writes (in %) and hits (in points) against a disk of segments that takes everything. segments:
what hearsay does, the oldest goes, what was used of it is written again; fifo: and nothing is
written again; lru, gdsf: ideal, single objects go. second_request: everything while there is room,
then what is asked for again. A URL is one object that stays fresh, so real hit ratios are lower.)";

std::string title_of(TiersGroup::Topic about) {
    switch (about) {
        case TiersGroup::Topic::one_cache:
            return "one cache as large as the disk, which evicts by";
        case TiersGroup::Topic::memory:
            return "the disk (segments, second_request) behind a memory that evicts by";
        case TiersGroup::Topic::disk:
            return "the disk behind a memory that evicts by s3_fifo";
    }
    return {};
}

void write_row(const TiersRow& row, const TierCounts* everything, Writer& out) {
    const auto& counts = *row.counts;
    const auto hits = percent(counts.hits(), counts.requests);
    const auto bytes = percent(counts.hit_bytes(), counts.bytes);
    if (row.config.disk_bytes == 0) {
        out.line("  {:<26} {:>7} {:>7} {:>7.2f} {:>7.2f}", row.title, "", "", hits, bytes);
        return;
    }
    std::string against;
    if (everything)
        against =
            fmt::format(" {:>7} {:>7}", fixed_text(100 * writes_saved(counts, *everything), 2),
                        fixed_text(percent(everything->hits(), everything->requests) - hits, 2));
    out.line("  {:<26} {:>7.2f} {:>7.2f} {:>7.2f} {:>7.2f} {:>8.2f} {:>7.3f}{}", row.title,
             percent(counts.memory_hits, counts.requests),
             percent(counts.disk_hits, counts.requests), hits, bytes,
             percent(counts.written_bytes(), counts.bytes),
             ratio(counts.written_bytes(), counts.admitted_bytes), against);
}

}  // namespace

std::string tiers_text(const TiersStudy& study, bool colour) {
    Writer out(colour);
    out.heading(study.log.title);
    out.line("{}", describe(study.log));
    out.append(reading_text(study.log));
    if (study.stopped) out.line("STOPPED EARLY: shows the finished rows");
    for (const auto& table : study.tables) {
        out.line("");
        out.heading(fmt::format(
            "disk of {}{}, memory of {}", size_text(static_cast<double>(table.disk_bytes)),
            table.disk.part > 0 ? " (" + table.disk.text() + " of the distinct bytes)"
                                : std::string(),
            size_text(static_cast<double>(table.memory_bytes))));
        out.heading(fmt::format("  {:<26} {:>7} {:>7} {:>7} {:>7} {:>8} {:>7} {:>7} {:>7}", "",
                                "memory", "disk", "hits", "bytes", "written", "times", "saved",
                                "lost"));
        out.heading(fmt::format("  {:<26} {:>7} {:>7} {:>7} {:>7} {:>8} {:>7} {:>7} {:>7}", "", "%",
                                "%", "%", "%", "%", "x", "%", "points"));
        const auto* everything = table.everything();
        for (const auto& group : table.groups) {
            out.line("{}", title_of(group.about));
            for (const auto& row : group.rows)
                if (row.counts) write_row(row, everything, out);
        }
    }
    out.line("");
    out.line("{}", kTiersLegend);
    auto text = out.take();
    if (const auto words = tiers_words(study); !words.empty()) text += '\n' + wrapped(words);
    return text;
}

}  // namespace measure
