#include "app/traffic_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>

#include "measure/report/numbers.hpp"
#include "measure/trace/printable.hpp"

namespace app {
namespace {

using namespace std::chrono_literals;
using OrderedJson = nlohmann::ordered_json;

constexpr std::size_t kLocal = 0, kPeer = 1, kOrigin = 2, kUncacheable = 3, kFailedOnes = 4,
                      kRefusedOnes = 5;

std::uint64_t whole_number(const OrderedJson& object, std::string_view name) {
    const auto at = object.find(name);
    return at != object.end() && at->is_number_unsigned() ? at->get<std::uint64_t>() : 0;
}

double real_number(const OrderedJson& object, std::string_view name, double otherwise) {
    const auto at = object.find(name);
    return at != object.end() && at->is_number() ? at->get<double>() : otherwise;
}

/// The object of that name, or an empty one.
OrderedJson part_of(const OrderedJson& object, std::string_view name) {
    const auto at = object.find(name);
    return at != object.end() && at->is_object() ? *at : OrderedJson::object();
}

TrafficReport report_of_point(const OrderedJson& point) {
    TrafficReport report;
    report.recorded_seconds = real_number(point, "seconds", 0);
    const auto requests = part_of(point, "requests"), usual = part_of(point, "p50_ms");
    for (std::size_t i = 0; i < kReportedOutcomes.size(); ++i) {
        report.requests[i] = whole_number(requests, kReportedOutcomes[i]);
        const auto median = real_number(usual, kReportedOutcomes[i], -1);
        if (median >= 0 && report.requests[i] > 0)
            report.medians[i].push_back({median, report.requests[i]});
    }
    const auto bytes = part_of(point, "bytes");
    report.to_clients = whole_number(bytes, "to_clients");
    report.from_peers = whole_number(bytes, "from_peers");
    report.from_origins = whole_number(bytes, "from_origins");
    return report;
}

std::uint64_t total_of(const TrafficReport& report) {
    return std::accumulate(report.requests.begin(), report.requests.end(), std::uint64_t{0});
}

/// The traffic that origins would have sent besides if cache and peers were missing. `to_clients`
/// leaves out the texts of the nodes themselves.
std::uint64_t spared_bytes(const TrafficReport& report) {
    return report.to_clients - std::min(report.to_clients, report.from_origins);
}

std::string time_text(double seconds) {
    const auto minutes = static_cast<std::uint64_t>(seconds / 60);
    if (minutes == 0) return fmt::format("{:.0f} s", seconds);
    if (minutes < 60) return fmt::format("{} min", minutes);
    return fmt::format("{} h {} min", minutes / 60, minutes % 60);
}

std::string usual_text(const TrafficReport& report, std::size_t outcome) {
    const auto usual = report.usual_ms(outcome);
    return usual ? measure::fixed_text(*usual, 2) + " ms" : "none";
}

OrderedJson object_of(const TrafficReport& report) {
    auto out = OrderedJson::object();
    if (!report.node.empty()) out["node"] = report.node;
    out["recorded_seconds"] = report.recorded_seconds;
    auto requests = OrderedJson::object(), usual = OrderedJson::object();
    for (std::size_t i = 0; i < kReportedOutcomes.size(); ++i) {
        const std::string name(kReportedOutcomes[i]);
        requests[name] = report.requests[i];
        const auto median = report.usual_ms(i);
        usual[name] = median ? OrderedJson(*median) : OrderedJson();
    }
    out["requests"] = std::move(requests);
    out["usual_ms"] = std::move(usual);
    out["bytes"] = {{"to_clients", report.to_clients},
                    {"from_peers", report.from_peers},
                    {"from_origins", report.from_origins}};
    out["saved"] = {{"requests_by_store", report.requests[kLocal]},
                    {"requests_by_peers", report.requests[kPeer]},
                    {"bytes", spared_bytes(report)},
                    {"bytes_by_peers", report.from_peers}};
    return out;
}

}  // namespace

std::optional<double> TrafficReport::usual_ms(std::size_t outcome) const {
    auto sorted = medians[outcome];
    std::sort(sorted.begin(), sorted.end(),
              [](const Median& a, const Median& b) { return a.ms < b.ms; });
    std::uint64_t all = 0, before = 0;
    for (const auto& each : sorted) all += each.requests;
    for (const auto& each : sorted) {
        before += each.requests;
        if (before >= all - before) return each.ms;
    }
    return std::nullopt;
}

TrafficReport& TrafficReport::operator+=(const TrafficReport& other) {
    recorded_seconds = std::max(recorded_seconds, other.recorded_seconds);
    for (std::size_t i = 0; i < requests.size(); ++i) {
        requests[i] += other.requests[i];
        medians[i].insert(medians[i].end(), other.medians[i].begin(), other.medians[i].end());
    }
    to_clients += other.to_clients;
    from_peers += other.from_peers;
    from_origins += other.from_origins;
    return *this;
}

std::string_view span_for(std::chrono::nanoseconds since) {
    if (since <= 15min) return "15m";
    return since <= 6h ? "6h" : "7d";
}

std::optional<TrafficReport> read_traffic(const std::string& page, std::chrono::nanoseconds since) {
    const auto history = OrderedJson::parse(page, nullptr, false);
    if (!history.is_object()) return std::nullopt;
    const auto points = history.find("points");
    const auto node = history.find("node");
    if (points == history.end() || !points->is_array() || node == history.end() ||
        !node->is_string())
        return std::nullopt;
    const auto begin =
        real_number(history, "now", 0) - std::chrono::duration<double>(since).count();
    TrafficReport sum;
    double seconds = 0;
    for (const auto& point : *points) {
        if (!point.is_object() || real_number(point, "t", 0) <= begin) continue;
        const auto one = report_of_point(point);
        seconds += one.recorded_seconds;
        sum += one;
    }
    sum.node = measure::printable(node->get<std::string>());
    sum.recorded_seconds = seconds;
    return sum;
}

std::string traffic_text(const TrafficReport& report) {
    using measure::grouped;
    using measure::percent;
    using measure::size_text;
    const auto whose = report.node.empty() ? "together" : "node " + report.node;
    if (report.recorded_seconds <= 0) return whose + ": nothing is recorded yet; try --since 15m\n";
    const auto total = total_of(report);
    const auto& requests = report.requests;
    const auto share = [&](std::size_t outcome) { return percent(requests[outcome], total); };
    const auto saved = spared_bytes(report);
    std::string out = fmt::format("{}, {} recorded\n", whose, time_text(report.recorded_seconds));
    out += fmt::format(
        "  requests       {}: {:.1f} % from the own store, {:.1f} % from peers, {:.1f} % from "
        "origins, {:.1f} % past the cache, {:.1f} % errors, {:.1f} % refused\n",
        grouped(total), share(kLocal), share(kPeer), share(kOrigin), share(kUncacheable),
        share(kFailedOnes), share(kRefusedOnes));
    out += fmt::format(
        "  usual time     {} from the own store, {} from a peer, {} from an origin (median of the "
        "intervals' medians, weighted by requests)\n",
        usual_text(report, kLocal), usual_text(report, kPeer), usual_text(report, kOrigin));
    out += fmt::format("  to clients     {}; origins sent {}\n",
                       size_text(static_cast<double>(report.to_clients)),
                       size_text(static_cast<double>(report.from_origins)));
    out += fmt::format("  saved in all   {}, {} ({:.1f} % of the bytes)\n",
                       measure::amount(requests[kLocal] + requests[kPeer], "request"),
                       size_text(static_cast<double>(saved)), percent(saved, report.to_clients));
    out += fmt::format("  by sharing     {}, {} came from peers\n",
                       measure::amount(requests[kPeer], "request"),
                       size_text(static_cast<double>(report.from_peers)));
    return out;
}

std::string traffic_json(const std::vector<TrafficReport>& nodes, std::chrono::nanoseconds since) {
    auto page = OrderedJson::object();
    page["since_seconds"] = std::chrono::duration<double>(since).count();
    auto list = OrderedJson::array();
    TrafficReport together;
    for (const auto& node : nodes) {
        list.push_back(object_of(node));
        together += node;
    }
    page["nodes"] = std::move(list);
    page["together"] = object_of(together);
    return page.dump(2, ' ', true, OrderedJson::error_handler_t::replace) + "\n";
}

}  // namespace app
