#pragma once

#include <boost/asio/awaitable.hpp>

#include "proxy/forwarding/client_context.hpp"
#include "proxy/forwarding/route.hpp"

namespace proxy {

/// Passes one request through to the origin and its answer back, bodies streaming both ways in
/// bounded memory, nothing stored. For methods other than GET, requests with a body or a Range, and
/// those that forbid storing. A success of an unsafe method invalidates what is stored under its
/// target (RFC 9111 §4.4). True when the client's connection can go on.
boost::asio::awaitable<bool> relay(ClientContext& client, const UpstreamTarget& target,
                                   CacheStatus status, Outcome outcome);

}  // namespace proxy
