#include "proxy/telemetry/history.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

namespace proxy {
namespace {

struct SpanFacts {
    std::string_view name;
    std::chrono::seconds interval;
    std::size_t points;
};
constexpr std::array<SpanFacts, kSpans.size()> kSpanFacts{{
    {"15m", std::chrono::seconds(5), 180},
    {"6h", std::chrono::seconds(60), 360},
    {"7d", std::chrono::seconds(600), 1008},
}};

const SpanFacts& facts_of(Span span) {
    return kSpanFacts[static_cast<std::size_t>(span)];
}

constexpr double kMillisecondsPerSecond = 1000;
constexpr std::size_t kMinuteIntervals = 12;

DurationHistogram over_all_outcomes(const TrafficTotals& totals) {
    DurationHistogram all;
    for (const auto& durations : totals.durations) all += durations;
    return all;
}

HistoryPoint difference(const TrafficTotals& before, History::Time began, const TrafficTotals& now,
                        History::Time end) {
    HistoryPoint point;
    point.end = end;
    point.seconds = std::chrono::duration<float>(end - began).count();
    point.refused = growth_32(before.refused, now.refused);
    for (std::size_t i = 0; i < point.requests.size(); ++i) {
        point.requests[i] = growth_32(before.requests.values[i], now.requests.values[i]);
        point.p50_ms[i] = quantile_ms(before.durations[i], now.durations[i], 0.5);
        point.p99_ms[i] = quantile_ms(before.durations[i], now.durations[i], 0.99);
    }
    const auto all_before = over_all_outcomes(before), all_now = over_all_outcomes(now);
    point.all_p50_ms = quantile_ms(all_before, all_now, 0.5);
    point.all_p99_ms = quantile_ms(all_before, all_now, 0.99);
    point.to_clients = growth(before.to_clients, now.to_clients);
    point.from_peers = growth(before.from_peers, now.from_peers);
    point.from_origins = growth(before.from_origins, now.from_origins);
    return point;
}

}  // namespace

std::uint64_t growth(std::uint64_t before, std::uint64_t now) {
    return now >= before ? now - before : 0;
}

std::uint32_t growth_32(std::uint64_t before, std::uint64_t now) {
    constexpr std::uint64_t kMost = std::numeric_limits<std::uint32_t>::max();
    return static_cast<std::uint32_t>(std::min(growth(before, now), kMost));
}

TrafficTotals totals_of(const WorkerCounters& counters) {
    const auto& refusals = counters.refusals.values;
    return {counters.requests,
            counters.durations,
            counters.bytes_to_clients,
            counters.bytes_from_peers,
            counters.bytes_from_origins,
            std::accumulate(refusals.begin(), refusals.end(), std::uint64_t{0})};
}

ClockPair clocks_now() {
    return {std::chrono::steady_clock::now(), std::chrono::system_clock::now()};
}

float quantile_ms(const DurationHistogram& before, const DurationHistogram& now, double part) {
    std::array<std::uint64_t, kDurationBuckets.size() + 1> counts{};
    std::uint64_t total = 0;
    for (std::size_t i = 0; i < counts.size(); ++i)
        total += counts[i] = growth(before.counts[i], now.counts[i]);
    if (total == 0) return -1;
    const auto wanted = part * static_cast<double>(total);
    double below = 0;
    for (std::size_t i = 0; i < kDurationBuckets.size(); ++i) {
        const auto count = static_cast<double>(counts[i]);
        if (below + count >= wanted && count > 0) {
            const auto low = i == 0 ? 0.0 : kDurationBuckets[i - 1];
            const auto share = (wanted - below) / count;
            const auto seconds = low + share * (kDurationBuckets[i] - low);
            return static_cast<float>(seconds * kMillisecondsPerSecond);
        }
        below += count;
    }
    return static_cast<float>(kDurationBuckets.back() * kMillisecondsPerSecond);
}

std::string_view name(Span span) {
    return facts_of(span).name;
}

std::optional<Span> span_named(std::string_view text) {
    for (const auto span : kSpans)
        if (name(span) == text) return span;
    return std::nullopt;
}

std::chrono::seconds interval_of(Span span) {
    return facts_of(span).interval;
}

std::size_t capacity_of(Span span) {
    return facts_of(span).points;
}

void History::Ring::push(const HistoryPoint& point) {
    points[next] = point;
    next = (next + 1) % points.size();
    size = std::min(size + 1, points.size());
}

const HistoryPoint& History::Ring::at(std::size_t i) const {
    return points[(next + points.size() - size + i) % points.size()];
}

History::History(Time now, const TrafficTotals& totals) : latest_(totals), latest_at_(now) {
    for (const auto span : kSpans) {
        auto& ring = rings_[static_cast<std::size_t>(span)];
        ring.points.resize(capacity_of(span));
        ring.last = totals;
        ring.last_at = now;
    }
    minute_.push_back(over_all_outcomes(totals));
}

void History::add(const TrafficTotals& totals, Time now) {
    latest_ = totals;
    latest_at_ = now;
    for (const auto span : kSpans) {
        auto& ring = rings_[static_cast<std::size_t>(span)];
        if (now - ring.last_at < interval_of(span) - kSlack) continue;
        ring.push(difference(ring.last, ring.last_at, totals, now));
        ring.last = totals;
        ring.last_at = now;
        if (span != Span::minutes_15) continue;
        minute_.push_back(over_all_outcomes(totals));
        if (minute_.size() > kMinuteIntervals + 1) minute_.pop_front();
    }
}

std::vector<HistoryPoint> History::points(Span span) const {
    const auto& of = ring(span);
    std::vector<HistoryPoint> all;
    all.reserve(of.size);
    for (std::size_t i = 0; i < of.size; ++i) all.push_back(of.at(i));
    return all;
}

std::vector<HistoryPoint> History::points_so_far(Span span) const {
    auto all = points(span);
    const auto& of = ring(span);
    if (latest_at_ > of.last_at)
        all.push_back(difference(of.last, of.last_at, latest_, latest_at_));
    return all;
}

std::uint64_t History::recent(Outcome outcome, std::chrono::seconds within, Time now) const {
    const auto& of = ring(Span::minutes_15);
    std::uint64_t sum = 0;
    for (auto i = of.size; i > 0 && now - of.at(i - 1).end < within; --i)
        sum += of.at(i - 1).requests[static_cast<std::size_t>(outcome)];
    return sum;
}

float History::minute_quantile_ms(double part) const {
    return quantile_ms(minute_.front(), minute_.back(), part);
}

void History::restore(Span span, std::span<const HistoryPoint> earlier, Time now) {
    auto& of = rings_[static_cast<std::size_t>(span)];
    const auto oldest = now - interval_of(span) * static_cast<std::int64_t>(capacity_of(span));
    const auto own = points(span);
    const auto own_begin = own.empty() ? of.last_at : own.front().end;
    of.size = of.next = 0;
    auto last = oldest;
    for (const auto& point : earlier) {
        if (point.end <= last || point.end > own_begin) continue;
        last = point.end;
        of.push(point);
    }
    for (const auto& point : own) of.push(point);
}

}  // namespace proxy
