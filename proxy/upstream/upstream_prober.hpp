#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>

#include "proxy/upstream/upstream.hpp"

namespace proxy {

/// Checks the servers of all groups with `health`, each in its interval, until the coroutine is
/// cancelled. It waits on `next` for the time of the next check, or for ever if there is none, so a
/// reload has to cancel that timer. One worker of a node runs it in Upstream::probes; the results
/// go to UpstreamGroups for all. A check is an ordinary GET that no client request counter shows,
/// and takes at most HealthCheck::timeout.
boost::asio::awaitable<void> probe_upstreams(Upstream& upstream, boost::asio::steady_timer& next);

}  // namespace proxy
