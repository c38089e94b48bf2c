#include "proxy/telemetry/counters.hpp"

#include <numeric>

namespace proxy {

void DurationHistogram::observe(std::chrono::nanoseconds duration) {
    const double seconds = std::chrono::duration<double>(duration).count();
    const auto bucket = std::lower_bound(kDurationBuckets.begin(), kDurationBuckets.end(), seconds);
    ++counts[static_cast<std::size_t>(bucket - kDurationBuckets.begin())];
    sum_seconds += seconds;
}

DurationHistogram& DurationHistogram::operator+=(const DurationHistogram& other) {
    std::transform(counts.begin(), counts.end(), other.counts.begin(), counts.begin(),
                   std::plus<>());
    sum_seconds += other.sum_seconds;
    return *this;
}

std::uint64_t DurationHistogram::total() const {
    return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
}

WorkerCounters& WorkerCounters::operator+=(const WorkerCounters& other) {
    protocol::add<TrafficCounters>(*this, other, kTrafficCounters);
    requests += other.requests;
    for (std::size_t i = 0; i < durations.size(); ++i) durations[i] += other.durations[i];
    verdicts += other.verdicts;
    refusals += other.refusals;
    intercept_failures += other.intercept_failures;
    return *this;
}

std::uint64_t WorkerCounters::total() const {
    return std::accumulate(requests.values.begin(), requests.values.end(), std::uint64_t{0});
}

}  // namespace proxy
