#pragma once

#include <boost/asio/awaitable.hpp>

#include "proxy/client/admitted.hpp"
#include "proxy/client/frontend.hpp"

namespace proxy {

/// Serves one client connection until it ends: requests one after the other, pipelined ones in
/// order.
boost::asio::awaitable<void> serve_client(Frontend& frontend, Admitted client);

}  // namespace proxy
