#pragma once

#include <boost/asio/awaitable.hpp>

#include "proxy/client/client_context.hpp"

namespace proxy {

/// Answers one CONNECT (RFC 9110 §9.3.6): connects to the authority the client names, says 200, and
/// passes bytes both ways until both sides have ended, one was reset, or none came for
/// `timeouts.tunnel_idle`. An end of one direction is passed on as such, a reset as a reset. The
/// client's connection ends with this, whatever the answer: after a refusal, bytes meant for the
/// tunnel may be on their way, and must not be read as a request.
boost::asio::awaitable<void> tunnel(ClientContext& client);

/// The second half of it, for connections that have agreed to become a tunnel otherwise: from what
/// both have sent already until the end.
boost::asio::awaitable<void> run_tunnel(ClientContext& client, UpstreamConnection& upstream);

}  // namespace proxy
