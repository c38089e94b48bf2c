#include "app/top_data.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "measure/report/numbers.hpp"
#include "measure/run/json_members.hpp"

namespace app {
namespace {

using measure::count_at;
using measure::member;
using measure::number_at;
using measure::text_at;
using TopJson = nlohmann::json;

TopRequests requests_of(const TopJson& from) {
    return {count_at(from, "local_hit"),    count_at(from, "peer_hit"),
            count_at(from, "origin_fetch"), count_at(from, "uncacheable"),
            count_at(from, "error"),        count_at(from, "refused")};
}

double share_of(const TopJson& room) {
    return measure::ratio(count_at(room, "bytes"), count_at(room, "cap_bytes"));
}

TopNode node_of(const TopJson& from) {
    TopNode out;
    out.node = text_at(from, "node");
    out.state = text_at(from, "state");
    out.self = member(from, "self") == TopJson(true);
    out.age_seconds = number_at(from, "age_seconds").value_or(0);
    out.requests = requests_of(member(from, "requests"));
    const auto& saved = member(from, "saved");
    out.saved_bytes = count_at(saved, "from_memory_bytes") + count_at(saved, "from_peers_bytes");
    out.objects = count_at(from, "objects");
    out.errors_5m = count_at(from, "errors_5m");
    out.memory = share_of(member(from, "memory"));
    out.disk = share_of(member(from, "disk"));
    out.has_report = member(from, "requests").is_object();
    out.faults.disks = count_at(member(from, "disk"), "faulty");
    const auto& origins = member(from, "origins");
    out.faults.origins =
        count_at(origins, "down") + count_at(origins, "slow") + count_at(origins, "failing");
    if (const auto& links = member(from, "links"); links.is_array())
        for (const auto& link : links)
            out.links.push_back(
                {text_at(link, "peer"), text_at(link, "state"), count_at(link, "hits")});
    return out;
}

TopInterval::Times times_of(const TopJson& point, const char* outcome) {
    return {number_at(member(point, "p50_ms"), outcome),
            number_at(member(point, "p99_ms"), outcome)};
}

/// Reports of one node are further apart than this, and the ages of one report agree better.
constexpr std::chrono::milliseconds kReportsApart{500};

TopRates::Clock::duration age_of(const TopNode& node) {
    constexpr double kYear = 365.0 * 24 * 3600;
    const std::chrono::duration<double> age(std::clamp(node.age_seconds, 0.0, kYear));
    return std::chrono::duration_cast<TopRates::Clock::duration>(age);
}

}  // namespace

TopRequests& TopRequests::operator+=(const TopRequests& other) {
    local_hit += other.local_hit;
    peer_hit += other.peer_hit;
    origin_fetch += other.origin_fetch;
    uncacheable += other.uncacheable;
    error += other.error;
    refused += other.refused;
    return *this;
}

std::optional<TopData> read_top_nodes(std::string_view json, std::string& why) {
    const auto page = TopJson::parse(json, nullptr, false);
    const auto& nodes = member(page, "nodes");
    if (!nodes.is_array() || nodes.empty()) {
        why = "the answer is not the list of nodes that this version of hearsay sends";
        return std::nullopt;
    }
    TopData out;
    out.node = text_at(page, "node");
    out.version = text_at(page, "version");
    for (const auto& each : nodes) {
        out.nodes.push_back(node_of(each));
        if (out.nodes.back().self)
            out.uptime_seconds = number_at(each, "uptime_seconds").value_or(0);
    }
    return out;
}

void read_top_history(std::string_view json, TopData& into) {
    const auto page = TopJson::parse(json, nullptr, false);
    const auto& points = member(page, "points");
    if (!points.is_array() || points.empty()) return;
    const auto& last = points.back();
    into.last.seconds =
        number_at(last, "seconds").value_or(number_at(page, "interval_seconds").value_or(0));
    into.last.requests = requests_of(member(last, "requests"));
    into.last.local_hit = times_of(last, "local_hit");
    into.last.peer_hit = times_of(last, "peer_hit");
    into.last.origin_fetch = times_of(last, "origin_fetch");
}

void read_top_urls(unsigned status, std::string_view json, TopData& into) {
    if (status == 401 || status == 403) {
        into.urls_note = status == 401 ? "the node shows URLs with its token alone "
                                         "(HEARSAY_ADMIN_TOKEN)"
                                       : "the node shows URLs to loopback alone";
        return;
    }
    const auto page = TopJson::parse(json, nullptr, false);
    if (member(page, "off") == TopJson(true)) {
        into.urls_note = "switched off (admin.top_urls)";
        return;
    }
    const auto& urls = member(page, "urls");
    if (status != 200 || !urls.is_array()) {
        into.urls_note = "the node does not list them";
        return;
    }
    std::size_t uncertain = 0;
    for (const auto& each : urls) {
        const auto requests = count_at(each, "requests");
        if (2 * count_at(each, "at_most_too_many") < requests)
            into.urls.push_back({text_at(each, "url"), requests});
        else
            ++uncertain;
    }
    if (uncertain > 0)
        into.urls_note = measure::amount(uncertain, "URL") +
                         " left out, as half of the count or more may be an error";
    else if (into.urls.empty())
        into.urls_note = "none yet";
}

void TopRates::see(TopData& data, Clock::time_point now) {
    std::map<std::string, LastCounts> next;
    for (auto& node : data.nodes) {
        const auto total = node.requests.total();
        const auto known = seen_.find(node.node);
        const auto age = node.self ? Clock::duration::zero() : age_of(node);
        LastCounts seen{total, now - age, std::nullopt};
        if (known != seen_.end()) {
            const auto& before = known->second;
            const auto seconds = std::chrono::duration<double>(seen.at - before.at).count();
            const bool is_same_report =
                !node.self && total == before.total && seen.at - before.at < kReportsApart;
            if (is_same_report)
                seen = before;
            else if (total >= before.total && seconds > 0)
                seen.rate = static_cast<double>(total - before.total) / seconds;
        }
        node.rate = age > kReport ? std::nullopt : seen.rate;
        next.insert_or_assign(node.node, seen);
    }
    seen_ = std::move(next);
}

}  // namespace app
