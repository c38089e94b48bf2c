#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace app {

/// The outcomes of client requests, in the order of the arrays below; `proxy::Outcome` as words.
inline constexpr std::array<std::string_view, 6> kReportedOutcomes{
    "local_hit", "peer_hit", "origin_fetch", "uncacheable", "error", "refused"};

/// The traffic of one node, or of several together, over the last hours.
struct TrafficReport {
    std::string node;             // empty for several together
    double recorded_seconds = 0;  // that the history has of the asked time; of several: the most
    std::array<std::uint64_t, kReportedOutcomes.size()> requests{};
    /// The median time of an outcome in one interval, and the number of its requests.
    struct Median {
        double ms = 0;
        std::uint64_t requests = 0;
    };
    std::array<std::vector<Median>, kReportedOutcomes.size()> medians;
    std::uint64_t to_clients = 0, from_peers = 0, from_origins = 0;  // bytes of bodies

    /// Usual time of a request in milliseconds: the median of the intervals' medians, each weighted
    /// by its requests. It stays where it is after one slow interval with few requests. Nothing: no
    /// interval has a time.
    std::optional<double> usual_ms(std::size_t outcome) const;

    TrafficReport& operator+=(const TrafficReport& other);
};

/// The span of /api/v1/history that covers `since`: `15m`, `6h` or `7d`.
std::string_view span_for(std::chrono::nanoseconds since);

/// Sums the page of /api/v1/history over the last `since`. Returns nothing for another page.
std::optional<TrafficReport> read_traffic(const std::string& page, std::chrono::nanoseconds since);

/// A few lines for people: the savings of the origins by the cache and its peers.
std::string traffic_text(const TrafficReport& report);

/// One JSON object: `nodes`, each with its numbers, and their sum, `together`.
std::string traffic_json(const std::vector<TrafficReport>& nodes, std::chrono::nanoseconds since);

}  // namespace app
