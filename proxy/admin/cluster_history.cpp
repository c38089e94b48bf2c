#include "proxy/admin/cluster_history.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <utility>

namespace proxy {
namespace {

using Time = ClusterHistory::Time;

/// Reports come every five seconds, and wait for a heartbeat.
constexpr std::chrono::seconds kReportSlack{2};
/// A node without an interval for so long is silent, and the sum no longer waits for it.
constexpr std::chrono::seconds kSilentAfter{30};

/// In the order of Outcome.
constexpr std::array kReportedOutcomes{
    &ReportedNumbers::local_hits,  &ReportedNumbers::peer_hits, &ReportedNumbers::origin_fetches,
    &ReportedNumbers::uncacheable, &ReportedNumbers::errors,    &ReportedNumbers::refused};
static_assert(kReportedOutcomes.size() == kEnumSize<Outcome>);
static_assert(static_cast<int>(Outcome::error) == 4 && static_cast<int>(Outcome::refused) == 5);

/// Reports are statements of peers, which may name any number.
std::uint64_t whole_number(double value) {
    return static_cast<std::uint64_t>(std::min(value, 0x1p63));
}

float milliseconds_or_none(std::uint64_t us) {
    return us == 0 ? -1 : static_cast<float>(static_cast<double>(us) / 1000);
}

HistoryPoint empty_point(Time end, float seconds) {
    HistoryPoint point;
    point.end = end;
    point.seconds = seconds;
    point.p50_ms.fill(-1);
    point.p99_ms.fill(-1);
    return point;
}

void count(const ReportedNumbers& before, const ReportedNumbers& now, HistoryPoint& point) {
    for (std::size_t i = 0; i < kReportedOutcomes.size(); ++i) {
        const auto outcome = kReportedOutcomes[i];
        point.requests[i] = growth_32(before.*outcome, now.*outcome);
    }
    point.refused = point.requests[static_cast<std::size_t>(Outcome::refused)];
    point.to_clients = growth(before.to_clients_bytes, now.to_clients_bytes);
    point.from_peers = growth(before.from_peers_bytes, now.from_peers_bytes);
    point.from_origins = growth(before.from_origins_bytes, now.from_origins_bytes);
    point.all_p50_ms = milliseconds_or_none(now.p50_us);
    point.all_p99_ms = milliseconds_or_none(now.p99_us);
}

double seconds_between(Time begin, Time end) {
    return std::chrono::duration<double>(end - begin).count();
}

Time begin_of(const HistoryPoint& point) {
    return point.end -
           std::chrono::duration_cast<Time::duration>(std::chrono::duration<float>(point.seconds));
}

/// An interval of the sum. Parts of requests add up before they are rounded.
struct Sum {
    std::array<double, kEnumSize<Outcome>> requests{};
    double to_clients = 0, from_peers = 0, from_origins = 0;
    double timed = 0, p50_by_requests = 0;
    float p99_ms = -1;

    void add(const HistoryPoint& point, double share) {
        double all = 0;
        for (std::size_t i = 0; i < requests.size(); ++i) {
            requests[i] += share * point.requests[i];
            all += share * point.requests[i];
        }
        to_clients += share * static_cast<double>(point.to_clients);
        from_peers += share * static_cast<double>(point.from_peers);
        from_origins += share * static_cast<double>(point.from_origins);
        if (point.all_p50_ms < 0 || all <= 0) return;
        timed += all;
        p50_by_requests += all * static_cast<double>(point.all_p50_ms);
        p99_ms = std::max(p99_ms, point.all_p99_ms);
    }
};

/// Spreads a point over the intervals of the sum, the first of which begins at `begin`.
void spread(const HistoryPoint& point, Time begin, std::vector<Sum>& sums) {
    const auto from = begin_of(point);
    const auto length = seconds_between(from, point.end);
    if (length <= 0) return;
    for (std::size_t i = 0; i < sums.size(); ++i) {
        const auto at = begin + ClusterHistory::kInterval * static_cast<std::int64_t>(i);
        const auto shared = seconds_between(std::max(from, at),
                                            std::min(point.end, at + ClusterHistory::kInterval));
        if (shared > 0) sums[i].add(point, shared / length);
    }
}

/// What is left by rounding goes to the next interval, so no request is lost.
std::vector<HistoryPoint> rounded(const std::vector<Sum>& sums, Time begin) {
    std::vector<HistoryPoint> points;
    points.reserve(sums.size());
    std::array<double, kEnumSize<Outcome>> left{};
    auto end = begin;
    for (const auto& sum : sums) {
        end += ClusterHistory::kInterval;
        auto point = empty_point(end, static_cast<float>(ClusterHistory::kInterval.count()));
        for (std::size_t i = 0; i < left.size(); ++i) {
            const auto exact = sum.requests[i] + left[i];
            const auto whole = std::max(std::round(exact), 0.0);
            left[i] = exact - whole;
            point.requests[i] = growth_32(0, whole_number(whole));
        }
        point.refused = point.requests[static_cast<std::size_t>(Outcome::refused)];
        point.to_clients = whole_number(sum.to_clients);
        point.from_peers = whole_number(sum.from_peers);
        point.from_origins = whole_number(sum.from_origins);
        if (sum.timed > 0) point.all_p50_ms = static_cast<float>(sum.p50_by_requests / sum.timed);
        point.all_p99_ms = sum.p99_ms;
        points.push_back(point);
    }
    return points;
}

}  // namespace

void ClusterHistory::Node::note(const ReportedNumbers& numbers, Time at) {
    if (last && at - last_at < kInterval - kReportSlack) return;
    if (last) {
        if (points.size() == kIntervals) points.erase(points.begin());
        points.reserve(kIntervals);
        auto& point =
            points.emplace_back(empty_point(at, static_cast<float>(seconds_between(last_at, at))));
        if (numbers.uptime_seconds >= last->uptime_seconds) count(*last, numbers, point);
    }
    last = numbers;
    last_at = at;
}

void ClusterHistory::add(const ClusterView& view, Time now) {
    latest_ = now;
    std::map<std::string, Node> next;
    for (const auto& each : view.nodes) {
        auto& node = next[each.node];
        if (const auto known = nodes_.find(each.node); known != nodes_.end())
            node = std::move(known->second);
        const auto age = std::chrono::duration_cast<Time::duration>(
            std::chrono::duration<double>(each.age_seconds));
        if (each.report) node.note(each.report->numbers, now - age);
    }
    nodes_ = std::move(next);
}

std::optional<std::vector<HistoryPoint>> ClusterHistory::points(const std::string& node) const {
    if (node == "*") return sum();
    const auto found = nodes_.find(node);
    if (found == nodes_.end()) return std::nullopt;
    auto points = found->second.points;
    std::erase_if(points, [&](const auto& point) {
        return point.end <= latest_ - kInterval * static_cast<std::int64_t>(kIntervals);
    });
    return points;
}

std::vector<HistoryPoint> ClusterHistory::sum() const {
    auto begin = Time::max(), end = latest_;
    for (const auto& [name, node] : nodes_) {
        if (node.points.empty() || node.points.back().end < latest_ - kSilentAfter) continue;
        begin = std::min(begin, begin_of(node.points.front()));
        end = std::min(end, node.points.back().end);
    }
    if (begin >= end) return {};
    const auto whole = std::chrono::round<std::chrono::seconds>(end - begin) / kInterval;
    std::vector<Sum> sums(std::clamp(static_cast<std::size_t>(whole), std::size_t{1}, kIntervals));
    begin = end - kInterval * static_cast<std::int64_t>(sums.size());
    for (const auto& [name, node] : nodes_)
        for (const auto& point : node.points) spread(point, begin, sums);
    return rounded(sums, begin);
}

}  // namespace proxy
