#include <nlohmann/json.hpp>

#include "measure/report/numbers.hpp"
#include "measure/study/scheme_name.hpp"
#include "measure/tiers/tiers_name.hpp"
#include "measure/tiers/tiers_study.hpp"

namespace measure {
namespace {

using Json = nlohmann::ordered_json;

const char* name(TiersGroup::Topic about) {
    switch (about) {
        case TiersGroup::Topic::one_cache:
            return "one_cache";
        case TiersGroup::Topic::memory:
            return "memory";
        case TiersGroup::Topic::disk:
            return "disk";
    }
    return "";
}

Json json_of(const TiersRow& row, const TierCounts* everything) {
    Json out = {{"title", row.title},
                {"replacement", measure::name(row.config.replacement)},
                {"memory_bytes", row.config.memory_bytes}};
    const bool has_disk = row.config.disk_bytes > 0;
    if (has_disk) {
        out["disk_bytes"] = row.config.disk_bytes;
        out["disk"] = measure::name(row.config.disk);
        out["admission"] = to_string(row.config.admission);
    }
    if (!row.counts) return out;
    const auto& counts = *row.counts;
    out["counts"] = {{"requests", counts.requests},
                     {"bytes", counts.bytes},
                     {"memory_hits", counts.memory_hits},
                     {"memory_hit_bytes", counts.memory_hit_bytes},
                     {"disk_hits", counts.disk_hits},
                     {"disk_hit_bytes", counts.disk_hit_bytes},
                     {"admitted", counts.admitted},
                     {"admitted_bytes", counts.admitted_bytes},
                     {"written_again_bytes", counts.written_again_bytes}};
    const auto hits = ratio(counts.hits(), counts.requests);
    out["hit_ratio"] = hits;
    out["byte_hit_ratio"] = ratio(counts.hit_bytes(), counts.bytes);
    if (!has_disk) return out;
    out["written_ratio"] = ratio(counts.written_bytes(), counts.bytes);
    out["write_amplification"] = ratio(counts.written_bytes(), counts.admitted_bytes);
    if (everything) {
        out["writes_saved"] = writes_saved(counts, *everything);
        out["hits_lost"] = ratio(everything->hits(), everything->requests) - hits;
    }
    return out;
}

}  // namespace

std::string tiers_json(const TiersStudy& study) {
    Json tables = Json::array();
    for (const auto& table : study.tables) {
        Json groups = Json::array();
        for (const auto& group : table.groups) {
            Json rows = Json::array();
            for (const auto& row : group.rows) rows.push_back(json_of(row, table.everything()));
            groups.push_back({{"about", name(group.about)}, {"rows", std::move(rows)}});
        }
        tables.push_back({{"disk", table.disk.text()},
                          {"disk_bytes", table.disk_bytes},
                          {"memory_bytes", table.memory_bytes},
                          {"groups", std::move(groups)}});
    }
    const Json out = {{"log",
                       {{"title", study.log.title},
                        {"requests", study.log.requests},
                        {"objects", study.log.objects},
                        {"bytes", study.log.bytes},
                        {"distinct_bytes", study.log.distinct_bytes},
                        {"lines", study.log.lines},
                        {"skipped", study.log.skipped},
                        {"examples", study.log.examples},
                        {"in_doubt", study.log.in_doubt},
                        {"out_of_order", study.log.out_of_order}}},
                      {"stopped", study.stopped},
                      {"tables", std::move(tables)}};
    return out.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

}  // namespace measure
