#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "proxy/telemetry/counters.hpp"

namespace proxy {

/// Counts of client requests since the start of the process, at one moment. The difference of two
/// of them is an interval of the history.
struct TrafficTotals {
    EnumCounts<Outcome> requests;
    std::array<DurationHistogram, kEnumSize<Outcome>> durations;     // index: Outcome
    std::uint64_t to_clients = 0, from_peers = 0, from_origins = 0;  // bytes of bodies
    std::uint64_t refused = 0;                                       // requests, for any reason
};
TrafficTotals totals_of(const WorkerCounters& counters);

/// By how much a count has grown; 0 for one that has fallen, as after a restart.
std::uint64_t growth(std::uint64_t before, std::uint64_t now);
/// The same, at most what 32 bits hold.
std::uint32_t growth_32(std::uint64_t before, std::uint64_t now);

/// The share `part` (0.5: the median) of the durations that `now` has more than `before`, in
/// milliseconds, or a negative number if there are none. Durations within a bucket count as evenly
/// spread. The last bucket has no upper bound and counts as its lower one.
float quantile_ms(const DurationHistogram& before, const DurationHistogram& now, double part);

/// Two clocks at one moment: times of the steady clock are shown and kept as wall times.
struct ClockPair {
    std::chrono::steady_clock::time_point steady;
    std::chrono::system_clock::time_point wall;
};
ClockPair clocks_now();

/// One interval of the history.
struct HistoryPoint {
    std::chrono::steady_clock::time_point end;
    float seconds = 0;  // its length
    std::uint32_t refused = 0;
    std::array<std::uint32_t, kEnumSize<Outcome>> requests{};  // index: Outcome
    std::array<float, kEnumSize<Outcome>> p50_ms{}, p99_ms{};  // negative: no such request
    float all_p50_ms = -1, all_p99_ms = -1;  // over all outcomes; unknown after a restart
    std::uint64_t to_clients = 0, from_peers = 0, from_origins = 0;  // bytes
};

/// The spans that the history covers.
enum class Span : std::uint8_t { minutes_15, hours_6, days_7 };
inline constexpr std::array kSpans{Span::minutes_15, Span::hours_6, Span::days_7};
/// `15m`, `6h`, `7d`.
std::string_view name(Span span);
std::optional<Span> span_named(std::string_view name);
std::chrono::seconds interval_of(Span span);
std::size_t capacity_of(Span span);  // points

/// The traffic of the last 15 minutes, 6 hours and 7 days, in intervals of 5 s, 60 s and 600 s. It
/// holds 1,548 points of 120 bytes, four TrafficTotals of about 1 KiB, and the durations of a
/// minute: 193 KB, nearly all of it taken by the constructor. Times are of the steady clock, so a
/// step of the wall clock changes no interval. A count that falls makes an interval of 0. One
/// thread.
class History {
public:
    using Time = std::chrono::steady_clock::time_point;
    /// A sample may come this much too early and still ends an interval.
    static constexpr std::chrono::milliseconds kSlack{500};

    /// Counting begins at `now` with `totals`.
    explicit History(Time now, const TrafficTotals& totals = {});

    /// Adds a sample. Times must not fall. More than one sample per interval changes nothing.
    void add(const TrafficTotals& totals, Time now);

    /// The points of a span, oldest first.
    std::vector<HistoryPoint> points(Span span) const;
    /// The same, and the interval under way as the last one: up to the last sample.
    std::vector<HistoryPoint> points_so_far(Span span) const;
    /// The sum of an outcome over the last `within` of the finest span.
    std::uint64_t recent(Outcome outcome, std::chrono::seconds within, Time now) const;
    /// quantile_ms() of the last twelve intervals of the finest span, over all outcomes.
    float minute_quantile_ms(double part) const;

    /// Puts points of an earlier process, oldest first, before those of this one. Points in the
    /// future, too old, or out of order are left out.
    void restore(Span span, std::span<const HistoryPoint> earlier, Time now);

private:
    struct Ring {
        std::vector<HistoryPoint> points;  // a ring of capacity_of()
        std::size_t next = 0, size = 0;
        TrafficTotals last;
        Time last_at;

        void push(const HistoryPoint& point);
        const HistoryPoint& at(std::size_t i) const;  // 0: the oldest
    };
    const Ring& ring(Span span) const { return rings_[static_cast<std::size_t>(span)]; }

    std::array<Ring, kSpans.size()> rings_;
    std::deque<DurationHistogram> minute_;  // at the ends of intervals, the latest last
    TrafficTotals latest_;
    Time latest_at_;
};

}  // namespace proxy
