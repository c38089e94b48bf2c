#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

namespace base {

/// Number of sent bytes of a TCP connection that the other side's system has acknowledged (RFC
/// 4898, tcpEStatsAppHCThruOctetsAcked), also after the end of the connection. Returns nullopt if
/// the system lacks the number. Costs one system call.
std::optional<std::uint64_t> bytes_acknowledged(int socket);

/// True if bytes were sent to the other side, and its system has acknowledged nothing for `time`.
/// Costs one system call.
bool is_unacknowledged_since(int socket, std::chrono::nanoseconds time);

/// The close of this socket ends its connection with a reset. The system forgets bytes that the
/// other side has yet to acknowledge, instead of sending them again.
void abort_at_close(int socket);

}  // namespace base
