#pragma once

#include <boost/asio/awaitable.hpp>
#include <string>

#include "proxy/client/client_context.hpp"

namespace proxy {

/// Passes one request through to the origin and its answer back, bodies streaming both ways in
/// bounded memory, nothing stored. For methods other than GET, requests with a body or a Range
/// that cannot be made a part of what is stored, and those that forbid storing. Interim answers are
/// passed on as they come, and Expect: 100-continue is the origin's to answer. So is the moment of
/// its answer: when it refuses a body of which a part has not been sent, or answers and closes, the
/// rest is not sent and the client hears at once (RFC 9112 §9.5); when it answers and goes on
/// reading, the body is sent first. A success of an unsafe method invalidates what is stored under
/// its target (RFC 9111 §4.4), and HEAD and POST may change it, see store_update.hpp. True when the
/// client's connection can go on. `upgrade`: protocols to ask for (RFC 9110 §7.8); after a 101 the
/// connection is a tunnel. Precondition: the request has a site.
boost::asio::awaitable<bool> relay(ClientContext& client, CacheStatus status, Outcome outcome,
                                   std::string upgrade = {});

/// The same, or a refusal for a request without a site.
boost::asio::awaitable<bool> pass(ClientContext& client, Forward why, Outcome outcome,
                                  std::string upgrade = {});

}  // namespace proxy
