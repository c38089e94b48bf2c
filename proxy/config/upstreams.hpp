#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "protocol/membership/peer_config.hpp"
#include "proxy/config/prefix_list.hpp"
#include "proxy/http/glob.hpp"

namespace proxy {

/// The choice of a server for one request to a group.
enum class Balance : std::uint8_t {
    round_robin,      // smooth, by weight
    least_in_flight,  // the fewest open requests for its weight
    rendezvous,       // the same server for the same URL, as long as it is up
    in_order,         // the first that is up: parents alone, no word of the configuration
};
inline constexpr std::array<std::string_view, 3> kBalanceNames{"round_robin", "least_in_flight",
                                                               "rendezvous"};

inline constexpr std::size_t kMaxUpstreams = 64;  // servers of one group, and parents
inline constexpr unsigned kMaxUpstreamWeight = 256;
inline constexpr std::size_t kMaxNoProxy = 256;

/// One server of a group, or one parent proxy.
struct UpstreamServer {
    base::HostPort place;
    bool tls = false;  // `https://`
    unsigned weight = 1;
    bool backup = false;
    /// Of a parent: user and password in base64, as Proxy-Authorization has them. A secret: no
    /// message, log or page shows it.
    std::string credentials = {};
    /// A hash of the place that all nodes share, never 0. A stored body keeps that of its server.
    std::uint32_t mark = 0;

    bool operator==(const UpstreamServer&) const = default;
};
/// The mark of a server at `place`: `host:port`.
std::uint32_t mark_of_server(std::string_view place);

/// The active checks of a group.
struct HealthCheck {
    std::string path;  // empty: there are none
    std::chrono::nanoseconds every = std::chrono::seconds(5);
    std::chrono::nanoseconds timeout = std::chrono::seconds(2);     // of one check, at most `every`
    std::vector<std::pair<unsigned, unsigned>> expect{{200, 399}};  // ranges of good statuses

    bool expects(unsigned status) const;
    bool operator==(const HealthCheck&) const = default;
};

/// The servers that have the same content, or the parents of a forward proxy. Immutable; any
/// thread.
struct UpstreamGroupConfig {
    std::string name;  // of the entry of `origins`: host and path; its state stays at a reload
    std::vector<UpstreamServer> servers;
    Balance balance = Balance::round_robin;
    HealthCheck health = {};
    std::chrono::nanoseconds slow_start{0};  // to the full weight after a recovery
    bool parents = false;                    // the servers are proxies
};

/// Targets that forward mode reaches without a parent.
struct NoProxy {
    std::vector<Glob> hosts;         // lower case; `*.example.org` covers names below it
    PrefixList prefixes;             // for hosts that are addresses
    std::vector<std::string> texts;  // as they were given

    /// `host`: as CacheKey::address() has it.
    bool contains(std::string_view host) const;
};

}  // namespace proxy
