#pragma once

#include <boost/asio/awaitable.hpp>

#include "proxy/upstream/upstream.hpp"

namespace proxy {

/// Checks the servers of all groups with `health`, each in its interval, until it is cancelled. It
/// follows reloads within a second. One worker of a node runs it in Upstream::probes; the results
/// go to UpstreamGroups for all. A check is an ordinary GET that no client request counter shows,
/// and takes at most HealthCheck::timeout.
boost::asio::awaitable<void> probe_upstreams(Upstream& upstream);

}  // namespace proxy
