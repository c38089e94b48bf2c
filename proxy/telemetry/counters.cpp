#include "proxy/telemetry/counters.hpp"

#include <numeric>

namespace proxy {

namespace {

constexpr std::array<std::string_view, kRequestRefusals> kRefusalNames{"malformed",
                                                                       "too_large",
                                                                       "not_implemented",
                                                                       "version",
                                                                       "no_route",
                                                                       "destination",
                                                                       "too_many_connections",
                                                                       "draining",
                                                                       "timeout",
                                                                       "loop",
                                                                       "tls",
                                                                       "forbidden",
                                                                       "client",
                                                                       "forward_client",
                                                                       "proxy_header",
                                                                       "upgrade"};
static_assert(static_cast<std::size_t>(RequestRefusal::upgrade) + 1 == kRequestRefusals);

}  // namespace

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

std::string_view to_string(RequestRefusal refusal) {
    return kRefusalNames[static_cast<std::size_t>(refusal)];
}

WorkerCounters& WorkerCounters::operator+=(const WorkerCounters& other) {
    requests += other.requests;
    for (std::size_t i = 0; i < durations.size(); ++i) durations[i] += other.durations[i];
    verdicts += other.verdicts;
    refusals += other.refusals;
    origin_requests += other.origin_requests;
    origin_failures += other.origin_failures;
    peer_requests += other.peer_requests;
    origin_down_requests += other.origin_down_requests;
    origins_down += other.origins_down;
    origin_hedges += other.origin_hedges;
    origin_hedges_outrun += other.origin_hedges_outrun;
    peer_repeats += other.peer_repeats;
    peers_too_far += other.peers_too_far;
    bytes_to_clients += other.bytes_to_clients;
    bytes_to_peers += other.bytes_to_peers;
    bytes_from_peers += other.bytes_from_peers;
    bytes_from_origins += other.bytes_from_origins;
    validations += other.validations;
    collapsed += other.collapsed;
    connections_accepted += other.connections_accepted;
    return *this;
}

std::uint64_t WorkerCounters::total() const {
    return std::accumulate(requests.values.begin(), requests.values.end(), std::uint64_t{0});
}

}  // namespace proxy
