#pragma once

#include <boost/asio/awaitable.hpp>
#include <string>

#include "proxy/http/cache_key.hpp"
#include "proxy/request/transaction.hpp"

namespace proxy {

/// Answers a CONNECT that was admitted in place of its host (`forward.intercept`): gets a
/// certificate, says 200, and has the requests inside served. An HTTP/1.1 connection in the clear
/// goes on itself (Http1Tunnel::take_intercepted()). Inside a stream of HTTP/2, or inside TLS, a
/// pair of sockets leads to a connection of its own, and this returns at its end. `name`: the host,
/// by intercepted_name(). Precondition: the configuration of the request has an interception.
boost::asio::awaitable<void> intercept_connect(Transaction& transaction, std::string name,
                                               std::uint16_t port);

}  // namespace proxy
