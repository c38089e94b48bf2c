#pragma once

#include <vector>

#include "base/net/host_port.hpp"

namespace base {

/// Opens listening sockets for one address, one per worker, which share its port (SO_REUSEPORT).
/// Throws std::runtime_error with the address if it is unavailable, for example because another
/// process, even another hearsay, listens there. The caller owns the descriptors. For port 0 all
/// sockets get the same free port.
std::vector<int> listen_shared(const base::HostPort& where, unsigned workers);

}  // namespace base
