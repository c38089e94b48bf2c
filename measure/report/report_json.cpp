#include <nlohmann/json.hpp>

#include "measure/report/report.hpp"

namespace measure {
namespace {

using Json = nlohmann::ordered_json;

Json json_of(const Figures& f) {
    return {{"by", f.by_counters ? "counters" : "clients"},
            {"requests", f.requests},
            {"local_hits", f.local_hits},
            {"peer_hits", f.peer_hits},
            {"origin_fetches", f.origin_fetches},
            {"other", f.other},
            {"errors", f.errors},
            {"false_hits", f.false_hits},
            {"other_refusals", f.other_refusals},
            {"peer_failures", f.peer_failures},
            {"local_hit_ratio", ratio(f.local_hits, f.requests)},
            {"peer_hit_ratio", ratio(f.peer_hits, f.requests)},
            {"hit_ratio", ratio(f.hits(), f.requests)},
            {"body_bytes", f.body_bytes},
            {"local_byte_ratio", ratio(f.local_bytes, f.body_bytes)},
            {"peer_byte_ratio", ratio(f.peer_bytes, f.body_bytes)}};
}

Json json_of(const IdealCounts& ideal) {
    return {{"requests", ideal.requests},
            {"local_hits", ideal.local_hits},
            {"shared_hits", ideal.shared_hits},
            {"local_hit_ratio", ideal.local_ratio()},
            {"shared_hit_ratio", ideal.shared_ratio()},
            {"local_byte_ratio", ratio(ideal.local_hit_bytes, ideal.bytes)},
            {"shared_byte_ratio", ratio(ideal.shared_hit_bytes, ideal.bytes)}};
}

Json json_of(const Histogram& histogram) {
    return {{"count", histogram.count()},
            {"p50_ms", static_cast<double>(histogram.quantile(0.50).count()) / 1000},
            {"p90_ms", static_cast<double>(histogram.quantile(0.90).count()) / 1000},
            {"p99_ms", static_cast<double>(histogram.quantile(0.99).count()) / 1000},
            {"p999_ms", static_cast<double>(histogram.quantile(0.999).count()) / 1000}};
}

Json latencies(const std::vector<const ProxyTally*>& tallies) {
    Json out = Json::object();
    for (std::size_t k = 0; k < kReportedOutcomes; ++k) {
        Histogram all;
        for (const auto* tally : tallies) all.add(tally->outcomes[k].latency);
        if (all.count() > 0)
            out[std::string(to_string(static_cast<ReportedOutcome>(k)))] = json_of(all);
    }
    return out;
}

Json failures(const ProxyTally& tally) {
    Json out = Json::object();
    for (std::size_t f = 0; f < kFailures; ++f) {
        if (tally.failures[f])
            out[std::string(to_string(static_cast<RequestFailure>(f)))] = tally.failures[f];
    }
    return out;
}

Json json_of(const ReportRow& row) {
    Json out = {{"proxy", row.name}};
    out.update(json_of(figures_of(row)));
    out["failures"] = failures(row.seen);
    out["taken_over"] = row.seen.taken_over;
    out["verified"] = row.seen.verified;
    out["restarts"] = row.restarts;
    out["latency"] = latencies({&row.seen});
    out["ideal"] = json_of(row.ideal);
    if (row.counted) {
        out["announcements_sent"] = row.counted->links.announcements_sent;
        out["heartbeats_sent"] = row.counted->links.heartbeats_sent;
        out["link_bytes_sent"] = row.counted->links.bytes_sent;
        out["origin_requests"] = row.counted->traffic.origin_requests;
        out["cache_objects"] = row.counted->cache.objects;
        out["cache_memory_bytes"] = row.counted->cache.memory_bytes;
        out["evictions"] = row.counted->evictions;
    }
    return out;
}

Json json_of(const BookVerdict& verdict) {
    Json broken = Json::array();
    for (const auto& book : verdict.broken) {
        broken.push_back({{"asker", book.asker},
                          {"giver", book.giver},
                          {"hits", book.hits},
                          {"given", book.served},
                          {"failures", book.failures}});
    }
    return {{"balanced", verdict.balanced()},
            {"pairs", verdict.books.size()},
            {"broken", broken},
            {"not_checked", verdict.unknown}};
}

}  // namespace

std::string report_json(const Report& report) {
    Json skipped = Json::object();
    for (const auto& [reason, count] : report.skipped) skipped[reason] = count;
    Json rows = Json::array();
    std::vector<const ProxyTally*> tallies;
    for (const auto& row : report.rows) {
        rows.push_back(json_of(row));
        tallies.push_back(&row.seen);
    }
    const Figures all = totals_of(report);
    Json out = {{"title", report.title},
                {"pace", report.pace},
                {"note", report.note},
                {"warnings", report.warnings},
                {"lines", report.lines},
                {"skipped", skipped},
                {"examples", report.examples},
                {"out_of_order", report.out_of_order},
                {"clients", report.clients},
                {"urls", report.urls},
                {"sent", report.sent},
                {"stopped", report.stopped},
                {"elapsed_seconds", report.elapsed_seconds},
                {"proxies", rows},
                {"all", json_of(all)},
                {"latency", latencies(tallies)},
                {"ideal", json_of(report.ideal.total)},
                {"found_of_ideal", found_of_ideal(report)},
                {"books", json_of(books_of(report))},
                {"disagreements", disagreements(report)},
                {"first_failure", report.first_failure}};
    if (const auto traffic = traffic_of(report)) {
        const auto per = [&](double value) {
            return all.requests == 0 ? 0 : value / static_cast<double>(all.requests);
        };
        const auto messages = traffic->announcements + traffic->false_hits;
        out["traffic"] = {
            {"announcements", traffic->announcements},
            {"false_hits", traffic->false_hits},
            {"messages_per_request", per(static_cast<double>(messages))},
            {"heartbeats", traffic->heartbeats},
            {"link_bytes", traffic->link_bytes},
            {"link_bytes_per_request", per(static_cast<double>(traffic->link_bytes))},
            {"origin_requests", traffic->origin_requests},
            {"icp_messages", traffic->icp_messages},
            {"icp_messages_per_request", per(static_cast<double>(traffic->icp_messages))},
            {"icp_bytes", traffic->icp_bytes}};
    }
    if (report.origin_requests) out["built_in_origin_requests"] = *report.origin_requests;
    return out.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

}  // namespace measure
