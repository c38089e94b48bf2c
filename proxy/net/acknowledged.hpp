#pragma once

#include <cstdint>
#include <optional>

namespace proxy {

/// How many of the bytes sent on a TCP connection the other side's system has acknowledged (RFC
/// 4898, tcpEStatsAppHCThruOctetsAcked), also after the connection has ended. Nothing where the
/// system does not say. One system call.
std::optional<std::uint64_t> bytes_acknowledged(int socket);

}  // namespace proxy
