#pragma once

#include <cstdint>
#include <vector>

#include "measure/trace/trace.hpp"

namespace measure {

/// What caches without limits would reach on exactly these requests, one URL being one object that
/// stays fresh: GETs are answered and stored, HEADs answered but not stored, anything else never.
struct IdealCounts {
    std::uint64_t requests = 0;
    std::uint64_t local_hits = 0;   ///< the proxy itself has had the URL
    std::uint64_t shared_hits = 0;  ///< any proxy has had it, told at once: local ones included
    std::uint64_t bytes = 0, local_hit_bytes = 0, shared_hit_bytes = 0;  ///< of URLs with a size

    double local_ratio() const;
    double shared_ratio() const;
};

struct Ideal {
    IdealCounts total;
    std::vector<IdealCounts> proxies;
    std::uint64_t url_bytes = 0;  ///< lengths of the requested URLs, for what ICP would have sent
};

/// Clients are put on `proxies` (1 to 1024) by proxy_of. `unknown_bytes` stands for sizes that the
/// log never tells. Only requests of `part` count; the caches hold what came before it, or nothing
/// of that when it is `lost`. `seen` overrides the log's sizes by object, where it is not 0.
Ideal ideal_of(const Trace&, std::size_t proxies, std::uint64_t unknown_bytes, TracePart part = {},
               const std::vector<std::uint64_t>& seen = {}, bool lost = false);

/// ICP asks every other proxy at each local miss and each answers: 2 (P - 1) messages.
inline std::uint64_t icp_messages(std::uint64_t local_misses, std::size_t proxies) {
    return 2 * (proxies - 1) * local_misses;
}
/// What they weigh without UDP and IP headers, for URLs of this mean length: a query is header
/// (20), requester (4), URL and NUL; a reply is header, URL and NUL. Source: RFC 2186.
inline double icp_bytes(std::uint64_t local_misses, std::size_t proxies, double mean_url_bytes) {
    return static_cast<double>(icp_messages(local_misses, proxies)) * (23 + mean_url_bytes);
}

}  // namespace measure
