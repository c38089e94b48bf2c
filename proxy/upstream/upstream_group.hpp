#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "proxy/config/upstreams.hpp"
#include "proxy/http/described_enum.hpp"

namespace proxy {

/// A server that has failed so often in a row gets a pause, in which other servers serve.
inline constexpr unsigned kServerFailures = 3;
/// The first pause, and the longest. Each failed trial doubles it.
inline constexpr std::chrono::seconds kServerPauseFirst{1};
inline constexpr std::chrono::seconds kServerPauseMax{8};
/// So many active checks in a row change the state of a server. The first check counts alone.
inline constexpr unsigned kChecksToChange = 2;
/// The share of its weight that a recovered server begins with.
inline constexpr double kSlowStartShare = 0.1;

/// The state of one server, as the status shows it.
BOOST_DEFINE_FIXED_ENUM_CLASS(ServerState, std::uint8_t, up, slow_start, down)

/// The servers of one group: their health, and the choice among them. A function of (state, event,
/// now), without I/O. Servers are named by their marks, so that a request that began before a
/// reload ends at the right one. One thread, or a lock around it.
class UpstreamGroup {
public:
    using Time = std::chrono::steady_clock::time_point;

    /// Makes the servers those of `config`. A server that stays keeps its state, and the state of
    /// others is kept for a while: requests under two configurations take turns during a reload.
    void follow(std::shared_ptr<const UpstreamGroupConfig> config);
    const std::shared_ptr<const UpstreamGroupConfig>& config() const { return config_; }

    /// The servers for one request, best first, as indices into UpstreamGroupConfig::servers.
    struct Order {
        std::vector<std::uint8_t> servers;
        bool all_down = false;  // no server is up: these are tried all the same
        bool trial = false;     // the first one is down, and its pause is over
    };
    /// Backups come behind the other servers. If no server is up the order has all of them, because
    /// a try may do better than an error. `may_try`: the request can go to another server if the
    /// first one fails, so it may find out whether a server is back, unless checks do that.
    /// `spread`: a hash of the URL.
    Order order(std::uint64_t spread, bool may_try, Time now);
    /// True if this server takes requests.
    bool is_up(std::uint32_t mark) const;
    /// True if any server takes requests.
    bool any_up() const;

    /// A request goes out to the server, and later leaves it.
    void began(std::uint32_t mark);
    void left(std::uint32_t mark);
    /// The result of a request. `unreachable`: the server took no connection, or broke it off
    /// without a response, or was silent. `failed`: counts as a failure without consequences.
    enum class End : std::uint8_t { answered, failed, unreachable };
    /// A change for the log.
    enum class Change : std::uint8_t { none, went_down, came_back };
    /// `began`: of the request. A server that has answered others meanwhile has a slow resource,
    /// and is not unreachable.
    Change ended(std::uint32_t mark, End end, Time began, Time now);
    /// The result of an active check.
    Change checked(std::uint32_t mark, bool good, Time now);

    struct Server {
        std::uint32_t mark = 0;
        std::uint64_t requests = 0, failures = 0;
        unsigned in_flight = 0;
        // Passive: requests.
        unsigned failures_in_row = 0;
        Time answered_at{};
        bool ejected = false;
        Time try_again_at{};
        std::chrono::nanoseconds pause{0};
        // Active: checks.
        bool was_checked = false;
        bool checked_down = false;
        unsigned checks_against = 0;  // in a row, against the present state
        Time back_at{};               // the last recovery
        bool recovered = false;
        double turn = 0;  // of the smooth round robin

        bool is_up() const { return !ejected && !checked_down; }
    };
    /// Null for an unknown server; also the state of one that a reload took out lately.
    const Server* find(std::uint32_t mark) const;
    ServerState state_of(const Server& server, Time now) const;

private:
    Server* at(std::uint32_t mark);
    double weight_of(std::size_t index, Time now) const;
    void sort(std::vector<std::uint8_t>& servers, std::uint64_t spread, Time now);
    void came_back(Server& server, Time now);

    std::shared_ptr<const UpstreamGroupConfig> config_;
    std::vector<Server> servers_;  // in the order of config_->servers
    std::vector<Server> former_;   // of earlier configurations, kMaxUpstreams at most
};

}  // namespace proxy
