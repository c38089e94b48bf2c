#include <fmt/format.h>

#include <iterator>
#include <nlohmann/json.hpp>

#include "measure/report/numbers.hpp"
#include "measure/report/wrapped.hpp"
#include "measure/study/paper.hpp"
#include "measure/study/study_report.hpp"
#include "proxy/config/config_values.hpp"

namespace measure {
namespace {

using Json = nlohmann::ordered_json;

/// Without the folders.
std::string short_title(const Study& study) {
    auto title = study.log.title.substr(0, study.log.title.find(" ("));
    return title.substr(title.find_last_of('/') + 1);
}

template <typename... Args>
void line(std::string& out, fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(out), format, std::forward<Args>(args)...);
    out += '\n';
}

void write_traces(const std::vector<Study>& studies, std::string& out) {
    line(out, "{:<28} {:>10} {:>8} {:>11} {:>9} {:>9} {:>8} {:>8}", "trace", "requests", "clients",
         "distinct", "most hits", "of bytes", "proxies", "lost at");
    line(out, "{:<28} {:>10} {:>8} {:>11} {:>9} {:>9} {:>8} {:>8}", "", "", "", "", "", "", "",
         "1 %");
    for (const auto& trace : kPaperTraces)
        line(out, "{:<28} {:>10} {:>8} {:>11} {:>9.2f} {:>9.2f} {:>8} {:>8}",
             std::string("paper: ") + trace.name, grouped(trace.requests), grouped(trace.clients),
             size_text(trace.distinct_bytes), trace.max_hit_ratio, trace.max_byte_hit_ratio,
             trace.proxies,
             trace.loss_at_one_percent < 0
                 ? std::string("-")
                 : fmt::format("{:.1f} %", trace.loss_at_one_percent * 100));
    for (const auto& study : studies) {
        const auto& log = study.log;
        const SimulationCounts *ideal = nullptr, *exact = nullptr;
        for (const auto& row : study.rows) {
            if (!row.counts) continue;
            if (row.config.scheme == Scheme::icp) ideal = &*row.counts;
            if (row.config.scheme == Scheme::exact_directory &&
                row.config.announce_changed == kPaperThreshold)
                exact = &*row.counts;
        }
        line(out, "{:<28} {:>10} {:>8} {:>11} {:>9.2f} {:>9.2f} {:>8} {:>8}",
             short_title(study).substr(0, 28), grouped(log.requests), grouped(log.clients),
             size_text(static_cast<double>(log.distinct_bytes)),
             1 - ratio(log.objects, log.requests), 1 - ratio(log.distinct_bytes, log.bytes),
             study.tables.front().proxies,
             ideal && exact ? fmt::format("{:.2f} %", lost_hits(*exact, *ideal) * 100) : "-");
    }
}

const char* word(PaperVerdict::Is is) {
    switch (is) {
        case PaperVerdict::Is::as_published:
            return "agrees";
        case PaperVerdict::Is::otherwise:
            return "DIFFERS";
        case PaperVerdict::Is::not_shown:
            return "not shown";
    }
    return "";
}

}  // namespace

std::string paper_text(const std::vector<Study>& studies, bool colour) {
    std::string out;
    for (const auto& study : studies) out += study_text(study, colour) + "\n";
    line(out,
         "Beside the paper (Fan, Cao, Almeida, Broder: SIGCOMM 1998; IEEE/ACM ToN 8(3), 2000)");
    line(out, "LRU, objects above {} not stored, as in its simulations\n",
         proxy::format_size(kPaperObjectMax));
    write_traces(studies, out);
    for (const auto& study : studies) {
        line(out, "\n{}, {}, caches of {} in all", short_title(study),
             proxies_text(study.tables.front().proxies), study.tables.front().cache.text());
        for (const auto& verdict : verdicts_of(study)) {
            line(out, "  {}: {}", word(verdict.is), verdict.statement);
            out += wrapped(verdict.ours, 11);
        }
    }
    return out;
}

std::string paper_json(const std::vector<Study>& studies) {
    Json traces = Json::array(), all = Json::array();
    for (const auto& trace : kPaperTraces)
        traces.push_back(
            {{"name", trace.name},
             {"requests", trace.requests},
             {"clients", trace.clients},
             {"distinct_bytes", trace.distinct_bytes},
             {"max_hit_ratio", trace.max_hit_ratio},
             {"max_byte_hit_ratio", trace.max_byte_hit_ratio},
             {"proxies", trace.proxies},
             {"lost_hits_at_one_percent",
              trace.loss_at_one_percent < 0 ? Json() : Json(trace.loss_at_one_percent)}});
    for (const auto& study : studies) {
        Json verdicts = Json::array();
        for (const auto& verdict : verdicts_of(study))
            verdicts.push_back(
                {{"claim", verdict.statement}, {"is", word(verdict.is)}, {"ours", verdict.ours}});
        auto one = Json::parse(study_json(study));
        one["verdicts"] = std::move(verdicts);
        all.push_back(std::move(one));
    }
    const Json out = {{"paper", {{"traces", std::move(traces)}}}, {"studies", std::move(all)}};
    return out.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

}  // namespace measure
