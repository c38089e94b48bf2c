#include "base/net/acknowledged.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <cstddef>

namespace base {
namespace {

/// The beginning of the kernel's tcp_info. The headers of this libc lack its last three members.
struct LongTcpInfo {
    tcp_info first;
    std::uint64_t pacing_rate, max_pacing_rate;
    std::uint64_t bytes_acked;  // Linux 4.1 and later
};
static_assert(offsetof(LongTcpInfo, bytes_acked) == 120);

/// The system counts times in ticks of up to 10 ms.
constexpr std::chrono::milliseconds kTickOfSystem{10};

}  // namespace

std::optional<std::uint64_t> bytes_acknowledged(int socket) {
    LongTcpInfo info{};
    socklen_t size = sizeof info;
    if (::getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &size) != 0 || size < sizeof info)
        return std::nullopt;
    return info.bytes_acked;
}

bool is_unacknowledged_since(int socket, std::chrono::nanoseconds time) {
    tcp_info info{};
    socklen_t size = sizeof info;
    if (::getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &size) != 0) return false;
    const std::chrono::milliseconds quiet(info.tcpi_last_ack_recv);
    return info.tcpi_unacked > 0 && quiet + kTickOfSystem >= time;
}

// Not by the socket's own option, which its destructor would take back.
void abort_at_close(int socket) {
    const linger at_once{1, 0};
    static_cast<void>(::setsockopt(socket, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once));
}

}  // namespace base
