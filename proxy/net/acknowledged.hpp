#pragma once

#include <cstdint>
#include <optional>

namespace proxy {

/// Number of sent bytes of a TCP connection that the other side's system has acknowledged (RFC
/// 4898, tcpEStatsAppHCThruOctetsAcked), also after the end of the connection. Returns nullopt if
/// the system lacks the number. Costs one system call.
std::optional<std::uint64_t> bytes_acknowledged(int socket);

}  // namespace proxy
