#include "measure/simulate/simulation_config.hpp"

#include <fmt/format.h>

#include <stdexcept>

#include "summary/peer_set.hpp"

namespace measure {

void check(const SimulationConfig& config) {
    const auto refuse = [](const std::string& why) { throw std::invalid_argument(why); };
    if (config.proxies < 1 || config.proxies > summary::kMaxPeers)
        refuse("a simulation is of 1 to 1024 proxies");
    if (!(config.warm_up >= 0 && config.warm_up < 1))
        refuse("the warm-up must be a part of the requests, below 1");
    if (!(config.requests_per_second >= 0)) refuse("requests per second must not be negative");
    if (config.fresh_for.count() < 0) refuse("what is stored must not be stale before it comes");
    if (!(config.changes >= 0 && config.changes <= 1))
        refuse("what changes must be a part of what goes stale");
    if (!(config.announce_changed > 0 && config.announce_changed <= 1))
        refuse("what is announced must be a part of the objects, above 0");
    if (!(config.false_hit_budget > 0 && config.false_hit_budget <= 1))
        refuse("the budget of false hits must be above 0, and 1 at most");
    if (config.load_factor < 1 || config.load_factor > 64)
        refuse("the load factor must be 1 to 64 bits per object");
    const auto& network = config.network;
    if (network.delay.count() < 0 || network.jitter.count() < 0 || network.origin.count() < 0)
        refuse("the network's times must not be negative");
    if (!(network.dropped >= 0 && network.dropped < 1))
        refuse("what is dropped must be a part of the deltas, below 1");
    for (const auto& cut : network.partitions)
        if (cut.until <= cut.from || cut.proxies > config.proxies)
            refuse(
                fmt::format("a partition must last, and be of some of the proxies: {} of {} cannot "
                            "be cut off",
                            cut.proxies, config.proxies));
    for (const auto& restart : network.restarts)
        if (restart.proxy >= config.proxies)
            refuse(fmt::format("proxy {} cannot restart: there are {}, and the first is 0",
                               restart.proxy, config.proxies));
    const auto scheme = config.scheme;
    if (!network.is_even() && scheme != Scheme::none && scheme != Scheme::icp &&
        scheme != Scheme::summary)
        refuse(
            "jitter, losses, partitions and restarts are simulated for our summaries, ICP and "
            "proxies that share nothing");
    if (!network.is_even() && scheme == Scheme::summary && config.proxies > kMostUnevenProxies)
        refuse("jitter, losses, partitions and restarts are simulated for up to 64 proxies");
}

}  // namespace measure
