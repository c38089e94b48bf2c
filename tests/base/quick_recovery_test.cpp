#include "base/net/quick_recovery.hpp"

#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <chrono>

namespace base {
namespace quick_recovery_test {

using namespace std::chrono_literals;

TEST(QuickRecovery, ShortensTheWaitForARetransmissionWhereTheSystemCan) {
    boost::asio::io_context io;
    boost::asio::ip::tcp::socket socket(io, boost::asio::ip::tcp::v4());
    const auto wait = [&] {  // as Linux has it since 6.16: 45 is TCP_RTO_MIN_US
        int microseconds = 0;
        socklen_t size = sizeof microseconds;
        ::getsockopt(socket.native_handle(), IPPROTO_TCP, 45, &microseconds, &size);
        return std::chrono::microseconds(microseconds);
    };
    if (wait() <= kPeerRetransmission) GTEST_SKIP() << "not with this kernel";
    recover_quickly(socket.native_handle());
    EXPECT_GE(wait(), kPeerRetransmission);
    EXPECT_LE(wait(), kPeerRetransmission + 10ms);  // it counts in ticks
}

}  // namespace quick_recovery_test
}  // namespace base
