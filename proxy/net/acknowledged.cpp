#include "proxy/net/acknowledged.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <cstddef>

namespace proxy {
namespace {

/// The beginning of the kernel's tcp_info. The headers of this libc lack its last three members.
struct LongTcpInfo {
    tcp_info first;
    std::uint64_t pacing_rate, max_pacing_rate;
    std::uint64_t bytes_acked;  // Linux 4.1 and later
};
static_assert(offsetof(LongTcpInfo, bytes_acked) == 120);

}  // namespace

std::optional<std::uint64_t> bytes_acknowledged(int socket) {
    LongTcpInfo info{};
    socklen_t size = sizeof info;
    if (::getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &size) != 0 || size < sizeof info)
        return std::nullopt;
    return info.bytes_acked;
}

}  // namespace proxy
