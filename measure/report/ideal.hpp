#pragma once

#include <cstdint>
#include <vector>

#include "measure/trace/trace.hpp"

namespace measure {

/// The hits of unlimited caches on exactly these requests. Each URL is one object that stays fresh.
/// GETs are answered and stored, HEADs answered only, other methods neither.
struct IdealCounts {
    std::uint64_t requests = 0;
    std::uint64_t local_hits = 0;   ///< hits on URLs that this proxy has had
    std::uint64_t shared_hits = 0;  ///< hits on URLs that any proxy has had, if announcements took
                                    ///< no time; includes local hits
    std::uint64_t bytes = 0, local_hit_bytes = 0, shared_hit_bytes = 0;  ///< of URLs with a size

    double local_ratio() const;
    double shared_ratio() const;
};

/// The ideal of a trace, in all and for each proxy.
struct Ideal {
    IdealCounts total;
    std::vector<IdealCounts> proxies;
    std::uint64_t url_bytes = 0;  ///< lengths of the requested URLs, for the estimate of ICP
                                  ///< traffic
};

/// Computes the ideal of a trace. proxy_of() distributes clients over `proxies` (1 to 1024).
/// `unknown_bytes` is the size of objects without one in the log. Only requests of `part` count;
/// the caches start with the objects of the requests before it, or empty if `lost`. Non-zero
/// entries of `seen` override the log's sizes by object.
Ideal ideal_of(const Trace&, std::size_t proxies, std::uint64_t unknown_bytes, TracePart part = {},
               const std::vector<std::uint64_t>& seen = {}, bool lost = false);

/// Number of ICP messages: at each local miss a proxy queries all others, and each of them answers.
/// 2 (P - 1) messages.
inline std::uint64_t icp_messages(std::uint64_t local_misses, std::size_t proxies) {
    return 2 * (proxies - 1) * local_misses;
}
/// Bytes of these messages without UDP and IP headers, for URLs of this mean length. A query has a
/// header (20), the requester (4), the URL and NUL; a reply has a header, the URL and NUL. Source:
/// RFC 2186.
inline double icp_bytes(std::uint64_t local_misses, std::size_t proxies, double mean_url_bytes) {
    return static_cast<double>(icp_messages(local_misses, proxies)) * (23 + mean_url_bytes);
}

}  // namespace measure
