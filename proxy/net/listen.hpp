#pragma once

#include <vector>

#include "protocol/net/host_port.hpp"

namespace proxy {

/// Listening sockets for one address, one for each worker, which share its port (SO_REUSEPORT).
/// Throws std::runtime_error, naming the address, when it cannot be had, in particular when another
/// process, even another hearsay, listens there. The caller owns the descriptors. Port 0 is chosen
/// once.
std::vector<int> listen_shared(const protocol::HostPort& where, unsigned workers);

}  // namespace proxy
