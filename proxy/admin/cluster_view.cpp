#include "proxy/admin/cluster_view.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

namespace proxy {
namespace {

using nlohmann::ordered_json;

double seconds_of(std::chrono::nanoseconds time) {
    return std::chrono::duration<double>(time).count();
}

bool is_linked(protocol::PeerState state) {
    switch (state) {
        case protocol::PeerState::waiting_snapshot:
        case protocol::PeerState::in_sync:
        case protocol::PeerState::lagging:
        case protocol::PeerState::no_address:
        case protocol::PeerState::one_way:
            return true;
        default:
            return false;
    }
}

ordered_json requests_of(const ReportedNumbers& numbers) {
    return {{"local_hit", numbers.local_hits},
            {"peer_hit", numbers.peer_hits},
            {"origin_fetch", numbers.origin_fetches},
            {"uncacheable", numbers.uncacheable},
            {"error", numbers.errors},
            {"refused", numbers.refused}};
}

ordered_json saved_of(const ReportedNumbers& numbers) {
    const auto fetched = numbers.from_peers_bytes + numbers.from_origins_bytes;
    return {{"from_memory_bytes",
             numbers.to_clients_bytes - std::min(numbers.to_clients_bytes, fetched)},
            {"from_peers_bytes", numbers.from_peers_bytes},
            {"from_origins_bytes", numbers.from_origins_bytes},
            {"to_clients_bytes", numbers.to_clients_bytes}};
}

/// Built in place: there may be a thousand links.
ordered_json links_of(const NodeReport& report) {
    ordered_json::array_t links;
    links.reserve(report.links.size());
    for (const auto& link : report.links) {
        auto& out = links.emplace_back(ordered_json::object());
        out["peer"] = link.peer;
        out["state"] = protocol::name(link.state);
        out["hits"] = link.hits;
        out["given"] = link.given;
        out["false_hits"] = link.false_hits;
        out["failures"] = link.failures;
        out["lag_seconds"] = static_cast<double>(link.lag_ms) / 1000;
    }
    return links;
}

void add_report(const NodeReport& report, ordered_json& out) {
    const auto& numbers = report.numbers;
    out["version"] = report.version;
    out["uptime_seconds"] = numbers.uptime_seconds;
    out["requests"] = requests_of(numbers);
    out["saved"] = saved_of(numbers);
    out["objects"] = numbers.objects;
    out["memory"] = {{"bytes", numbers.memory_bytes}, {"cap_bytes", numbers.memory_cap_bytes}};
    out["disk"] = {{"bytes", numbers.disk_bytes},
                   {"cap_bytes", numbers.disk_cap_bytes},
                   {"faulty", numbers.disks_faulty},
                   {"with_errors", numbers.disks_with_errors}};
    if (report.judges_origins)
        out["origins"] = {{"down", numbers.origins_down},
                          {"slow", numbers.origins_slow},
                          {"failing", numbers.origins_failing}};
    out["summary"] = {{"fill", static_cast<double>(numbers.summary_fill_ppm) / 1e6},
                      {"expected_error", static_cast<double>(numbers.expected_error_ppb) / 1e9}};
    out["errors_5m"] = numbers.errors_5m;
    out["links"] = links_of(report);
    out["links_left_out"] = report.links_left_out;
}

}  // namespace

ClusterView view_of(const NodeStatus& status, NodeReport own,
                    const std::vector<protocol::ReceivedReport>& received) {
    ClusterView view;
    view.version = status.version;
    view.now = seconds_of(std::chrono::system_clock::now().time_since_epoch());
    auto& self = view.nodes.emplace_back();
    self.node = status.node;
    self.is_self = true;
    self.report = std::move(own);
    std::map<std::string_view, const protocol::ReceivedReport*> by_node;
    for (const auto& report : received) by_node[report.node] = &report;
    for (const auto& peer : status.cluster.peers) {
        auto& node = view.nodes.emplace_back();
        node.node = peer.node;
        node.link = peer.state;
        node.link_seconds = peer.state_seconds;
        const auto found = by_node.find(peer.node);
        if (found == by_node.end()) continue;
        const auto& last = *found->second;
        node.report = decode_report(last.bytes);
        node.age_seconds = seconds_of(last.age);
        node.is_old =
            last.age > std::max<std::chrono::nanoseconds>(kReportIsOld, 3 * last.interval);
    }
    return view;
}

void show_clocks(const std::vector<protocol::ReceivedReport>& received,
                 std::chrono::system_clock::time_point now, NodeStatus& status) {
    std::map<std::string_view, const protocol::ReceivedReport*> by_node;
    for (const auto& report : received) by_node[report.node] = &report;
    for (auto& peer : status.cluster.peers) {
        const auto found = by_node.find(peer.node);
        if (found == by_node.end() || !is_linked(peer.state)) continue;
        const auto report = decode_report(found->second->bytes);
        if (!report || report->clock_ms == 0) continue;
        const auto arrived = seconds_of(now.time_since_epoch()) - seconds_of(found->second->age);
        peer.clock_ahead_seconds = static_cast<double>(report->clock_ms) / 1000 - arrived;
    }
}

std::chrono::seconds ahead_of_all_peers(const NodeStatus& status) {
    constexpr double kAccuracy = 2, kMost = 1e9;
    auto least = kMost;
    for (const auto& peer : status.cluster.peers)
        if (peer.clock_ahead_seconds) least = std::min(least, -*peer.clock_ahead_seconds);
    const auto is_known = least > kAccuracy && least < kMost;
    return std::chrono::seconds(is_known ? std::llround(least) : 0);
}

std::string_view state_of(const NodeView& node) {
    if (!node.is_self && node.link == protocol::PeerState::refused) return "refused";
    if (!node.is_self && !is_linked(node.link)) return "down";
    if (!node.report) return "no_report";
    if (node.is_old) return "silent";
    const auto& numbers = node.report->numbers;
    if (numbers.draining != 0) return "draining";
    return numbers.ready != 0 ? "ready" : "not_ready";
}

std::optional<double> state_seconds_of(const NodeView& node) {
    const auto state = state_of(node);
    if (state == "silent") return node.age_seconds;
    if (state == "down" || state == "refused" || state == "no_report") return node.link_seconds;
    return std::nullopt;
}

std::string nodes_json(const ClusterView& view) {
    ordered_json::array_t nodes;
    nodes.reserve(view.nodes.size());
    for (const auto& node : view.nodes) {
        auto& out = nodes.emplace_back(ordered_json::object());
        out["node"] = node.node;
        out["self"] = node.is_self;
        out["state"] = state_of(node);
        if (const auto seconds = state_seconds_of(node)) out["state_seconds"] = *seconds;
        out["age_seconds"] = node.report ? ordered_json(node.age_seconds) : ordered_json();
        if (node.report) add_report(*node.report, out);
    }
    auto page = ordered_json::object();
    page["node"] = view.nodes.empty() ? std::string() : view.nodes.front().node;
    page["version"] = view.version;
    page["now"] = view.now;
    page["nodes"] = std::move(nodes);
    return page.dump(2, ' ', true, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace proxy
