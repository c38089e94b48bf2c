#include "measure/simulate/simulation_config.hpp"

#include <fmt/format.h>

#include <stdexcept>

#include "measure/trace/trace.hpp"
#include "proxy/config/config_values.hpp"
#include "summary/directory/peer_set.hpp"

namespace measure {
namespace {

using proxy::format_duration;

[[noreturn]] void refuse(const std::string& why) {
    throw std::invalid_argument(why);
}

/// Times are added to each other, in nanoseconds.
void check_time(std::chrono::nanoseconds time, const char* what) {
    if (time.count() < 0) refuse(fmt::format("{} must not be negative", what));
    if (time > kLongestSpan) refuse(fmt::format("{} must not be above a hundred years", what));
}

void check_network(const SimulatedNetwork& network, std::size_t proxies) {
    check_time(network.delay, "the delay between proxies");
    check_time(network.jitter, "the jitter");
    check_time(network.origin, "the delay of the origin");
    if (!(network.dropped >= 0 && network.dropped < 1))
        refuse("the loss must be a part of the deltas, below 1");
    for (const auto& [from, until, cut_off] : network.partitions) {
        check_time(from, "the start of a partition");
        check_time(until, "the end of a partition");
        if (until <= from)
            refuse(fmt::format("a partition from {} to {} ends before it begins",
                               format_duration(from), format_duration(until)));
        if (cut_off < 1 || cut_off >= proxies)
            refuse(
                fmt::format("a partition cuts off some of the proxies: {} of {} cannot be cut "
                            "off",
                            cut_off, proxies));
    }
    for (const auto& restart : network.restarts) {
        check_time(restart.at, "the time of a restart");
        if (restart.proxy >= proxies)
            refuse(fmt::format("proxy {} cannot restart: there are {}, and the first is 0",
                               restart.proxy, proxies));
    }
}

}  // namespace

void check(const SimulationConfig& config) {
    if (config.proxies < 1 || config.proxies > summary::kMaxPeers)
        refuse(fmt::format("a simulation is of 1 to {} proxies", summary::kMaxPeers));
    if (!(config.warm_up >= 0 && config.warm_up < 1))
        refuse("the warm-up must be a part of the requests, below 1");
    if (!(config.requests_per_second >= 0)) refuse("requests per second must not be negative");
    check_time(config.fresh_for, "the time that answers are fresh");
    if (!(config.changes >= 0 && config.changes <= 1))
        refuse("the changes must be a part of the stale objects");
    if (!(config.announce_changed > 0 && config.announce_changed <= 1))
        refuse("the announcement threshold must be a part of the objects, above 0");
    if (!(config.false_hit_budget > 0 && config.false_hit_budget <= 1))
        refuse("the budget of false hits must be above 0, and 1 at most");
    check_time(config.announce_delay, "the delay of announcements");
    if (config.load_factor < kLeastLoadFactor || config.load_factor > kMostLoadFactor)
        refuse(fmt::format("the load factor must be {} to {} bits per object", kLeastLoadFactor,
                           kMostLoadFactor));
    check_network(config.network, config.proxies);
    const auto& network = config.network;
    const auto scheme = config.scheme;
    if (!network.is_even() && scheme != Scheme::none && scheme != Scheme::icp &&
        scheme != Scheme::summary)
        refuse(
            "jitter, losses, partitions and restarts are simulated for our summaries, ICP and "
            "proxies that share nothing");
    if (!network.is_even() && scheme == Scheme::summary && config.proxies > kMostUnevenProxies)
        refuse(
            fmt::format("jitter, losses, partitions and restarts are simulated for up to {} "
                        "proxies",
                        kMostUnevenProxies));
}

}  // namespace measure
