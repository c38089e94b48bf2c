#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <chrono>

namespace proxy {

/// Between nodes a packet that is lost is sent again after so long plus the round trip; by default
/// it is 200 ms, longer than many an origin takes. More than the 40 ms for which a receiver may
/// keep an acknowledgement back.
inline constexpr std::chrono::microseconds kPeerRetransmission{50'000};

/// Sets that for one connection. Linux 6.16 and later; elsewhere nothing changes.
inline void recover_quickly(int socket) {
    constexpr int kTcpRtoMinUs = 45;  // TCP_RTO_MIN_US, which this libc's headers do not have yet
    const int time = static_cast<int>(kPeerRetransmission.count());
    static_cast<void>(::setsockopt(socket, IPPROTO_TCP, kTcpRtoMinUs, &time, sizeof time));
}

}  // namespace proxy
