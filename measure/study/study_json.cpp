#include <nlohmann/json.hpp>

#include "measure/study/scheme_name.hpp"
#include "measure/study/study_report.hpp"

namespace measure {
namespace {

using Json = nlohmann::ordered_json;

std::string_view name(StudyTable::Topic about) {
    switch (about) {
        case StudyTable::Topic::schemes:
            return "schemes";
        case StudyTable::Topic::staleness:
            return "staleness";
        case StudyTable::Topic::announce:
            return "announce";
        case StudyTable::Topic::copies:
            return "copies";
        case StudyTable::Topic::asked:
            return "asked";
    }
    return "";
}

Json json_of(const LogFacts& log) {
    return {{"title", log.title},
            {"synthetic", log.synthetic},
            {"requests", log.requests},
            {"clients", log.clients},
            {"objects", log.objects},
            {"bytes", log.bytes},
            {"distinct_bytes", log.distinct_bytes},
            {"span_seconds", std::chrono::duration<double>(log.span).count()},
            {"lines", log.lines},
            {"skipped", log.skipped},
            {"examples", log.examples},
            {"in_doubt", log.in_doubt},
            {"out_of_order", log.out_of_order}};
}

Json json_of(const SimulationConfig& config) {
    Json out = {{"scheme", measure::name(config.scheme)},
                {"proxies", config.proxies},
                {"cache_bytes", config.cache_bytes},
                {"replacement", measure::name(config.replacement)},
                {"copy", proxy::to_string(config.copy)}};
    if (config.scheme == Scheme::summary) {
        out["kind"] = summary::name(config.kind);
        out["false_hit_budget"] = config.false_hit_budget;
        out["announce_delay_seconds"] =
            config.announce_delay >= kNoDelay
                ? Json()
                : Json(std::chrono::duration<double>(config.announce_delay).count());
    }
    if (config.fresh_for.count() > 0) {
        out["fresh_for_seconds"] = std::chrono::duration<double>(config.fresh_for).count();
        out["changes"] = config.changes;
    }
    if (has_threshold(config.scheme)) out["announce_changed"] = config.announce_changed;
    if (config.scheme == Scheme::paper_bloom) out["load_factor"] = config.load_factor;
    return out;
}

Json json_of(const SimulationCounts& counts) {
    return {{"requests", counts.requests},
            {"bytes", counts.bytes},
            {"local_hits", counts.local_hits},
            {"local_hit_bytes", counts.local_hit_bytes},
            {"peer_hits", counts.peer_hits},
            {"peer_hit_bytes", counts.peer_hit_bytes},
            {"joined", counts.joined},
            {"validations", counts.validations},
            {"renewals_taken", counts.renewals_taken},
            {"renewals_told", counts.renewals_told},
            {"origin_beside", counts.origin_beside},
            {"doubled", counts.doubled},
            {"meetings", counts.meetings},
            {"followed", counts.followed},
            {"questions", counts.peer_requests},
            {"false_hits_collision", counts.false_hits_collision},
            {"false_hits_evicted", counts.false_hits_evicted},
            {"stale_hits", counts.stale_hits},
            {"overruled", counts.overruled},
            {"samples", counts.samples},
            {"failures", counts.failures},
            {"peers_too_far", counts.peers_too_far},
            {"false_misses", counts.false_misses},
            {"announcements", counts.announcements},
            {"announcement_bytes", counts.announcement_bytes},
            {"snapshots", counts.snapshots},
            {"query_messages", counts.query_messages},
            {"query_bytes", counts.query_bytes},
            {"stored", counts.stored},
            {"evicted", counts.evicted},
            {"summary_bytes", counts.summary_bytes},
            {"waited_ms", counts.waited_ms}};
}

Json ratios_of(const SimulationCounts& counts, const SimulationCounts* ideal) {
    const auto each = per_request(counts);
    return {{"local_hit_ratio", each.local},
            {"peer_hit_ratio", each.peer},
            {"hit_ratio", each.total},
            {"byte_hit_ratio", each.total_bytes},
            {"lost_hits", ideal ? Json(lost_hits(counts, *ideal)) : Json()},
            {"false_miss_ratio", each.false_misses},
            {"false_hits_per_request", each.false_hits},
            {"messages_per_request", each.messages()},
            {"message_bytes_per_request", each.message_bytes()},
            {"announcements_per_request", each.announcements},
            {"announcement_bytes_per_request", each.announcement_bytes},
            {"queries_per_request", each.queries},
            {"query_bytes_per_request", each.query_bytes},
            {"waited_ms_per_request", each.waited_ms}};
}

Json json_of(const Study& study, const StudyTable& table) {
    const auto* ideal = ideal_of(study, table);
    Json rows = Json::array();
    for (const auto& line : table.lines) {
        const auto& row = study.row(line);
        Json out = {{"title", line.title}, {"config", json_of(row.config)}};
        if (row.counts) {
            out["counts"] = json_of(*row.counts);
            out.update(ratios_of(*row.counts, ideal));
        } else if (!row.refused.empty()) {
            out["refused"] = row.refused;
        } else {
            continue;
        }
        rows.push_back(std::move(out));
    }
    return {{"about", name(table.about)},
            {"proxies", table.proxies},
            {"cache", table.cache.text()},
            {"rows", std::move(rows)}};
}

}  // namespace

std::string study_json(const Study& study, const std::string& more) {
    Json tables = Json::array();
    for (const auto& table : study.tables) tables.push_back(json_of(study, table));
    Json out = {
        {"log", json_of(study.log)}, {"stopped", study.stopped}, {"tables", std::move(tables)}};
    if (!more.empty()) out.update(Json::parse(more));
    return out.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

}  // namespace measure
