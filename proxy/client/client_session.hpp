#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/ip/tcp.hpp>

#include "proxy/client/frontend.hpp"
#include "proxy/http/cache_key.hpp"

namespace proxy {

/// Serves one client connection until it ends: requests one after the other, pipelined ones in
/// order. `scheme`: what the connection speaks.
boost::asio::awaitable<void> serve_client(Frontend& frontend, boost::asio::ip::tcp::socket socket,
                                          Scheme scheme);

}  // namespace proxy
