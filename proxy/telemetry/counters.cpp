#include "proxy/telemetry/counters.hpp"

#include <numeric>

namespace proxy {

namespace {

std::size_t bucket_of(double seconds) {
    const auto bucket = std::lower_bound(kDurationBuckets.begin(), kDurationBuckets.end(), seconds);
    return static_cast<std::size_t>(bucket - kDurationBuckets.begin());
}

}  // namespace

void DurationHistogram::observe(std::chrono::nanoseconds duration) {
    const double seconds = std::chrono::duration<double>(duration).count();
    ++counts[bucket_of(seconds)];
    sum_seconds += seconds;
}

void DurationExemplars::note(const TraceId& trace, std::chrono::nanoseconds duration,
                             std::chrono::system_clock::time_point now) {
    const double seconds = std::chrono::duration<double>(duration).count();
    last[bucket_of(seconds)] = {trace, seconds, now};
}

DurationExemplars& DurationExemplars::operator+=(const DurationExemplars& other) {
    for (std::size_t i = 0; i < last.size(); ++i)
        if (other.last[i].at > last[i].at) last[i] = other.last[i];
    return *this;
}

void WorkerCounters::observe(Outcome outcome, std::chrono::nanoseconds duration,
                             const RequestTrace& trace) {
    const auto index = static_cast<std::size_t>(outcome);
    durations[index].observe(duration);
    if (trace.spans)
        exemplars[index].note(trace.context.trace, duration, std::chrono::system_clock::now());
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
    base::add<TrafficCounters>(*this, other, kTrafficCounters);
    requests += other.requests;
    for (std::size_t i = 0; i < durations.size(); ++i) durations[i] += other.durations[i];
    for (std::size_t i = 0; i < exemplars.size(); ++i) exemplars[i] += other.exemplars[i];
    verdicts += other.verdicts;
    refusals += other.refusals;
    intercept_failures += other.intercept_failures;
    return *this;
}

std::uint64_t WorkerCounters::total() const {
    return std::accumulate(requests.values.begin(), requests.values.end(), std::uint64_t{0});
}

}  // namespace proxy
