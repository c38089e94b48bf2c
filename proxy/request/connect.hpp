#pragma once

#include <boost/asio/awaitable.hpp>

#include "proxy/request/transaction.hpp"

namespace proxy {

/// Serves one CONNECT (RFC 9110 §9.3.6): connects to the authority that the client names, says 200,
/// and becomes a tunnel; or answers for a host of `forward.intercept` itself. Precondition: the
/// transaction can open a tunnel.
boost::asio::awaitable<void> serve_connect(Transaction& transaction);

}  // namespace proxy
