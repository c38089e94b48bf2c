#include "proxy/request/disconnect_detector.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>

namespace proxy {
namespace disconnect_detector_test {

using namespace std::chrono_literals;
using Line = DisconnectDetector::Line;

constexpr DisconnectDetector::Clock::time_point kNow{1000s};

TEST(DisconnectDetector, IsCertainWhenTheLineIsBroken) {
    DisconnectDetector client;
    EXPECT_FALSE(client.has_left(Line::open, 0, kNow));
    EXPECT_TRUE(client.has_left(Line::broken, 0, kNow));
}

TEST(DisconnectDetector, IsAssumedSomeTimeAfterTheClientHasEndedItsSide) {
    DisconnectDetector client;
    EXPECT_FALSE(client.has_left(Line::open, 0, kNow));
    EXPECT_FALSE(client.has_left(Line::half_closed, 0, kNow + 100s));
    EXPECT_FALSE(client.has_left(Line::half_closed, 0, kNow + 109s));
    EXPECT_TRUE(client.has_left(Line::half_closed, 0, kNow + 110s));
}

TEST(DisconnectDetector, IsNotThatOfAClientWhoseAnswerGoesOn) {
    DisconnectDetector client;
    EXPECT_FALSE(client.has_left(Line::half_closed, 0, kNow));
    EXPECT_FALSE(client.has_left(Line::half_closed, 500, kNow + 10s));
    EXPECT_FALSE(client.has_left(Line::half_closed, 500, kNow + 19s));
    EXPECT_TRUE(client.has_left(Line::half_closed, 500, kNow + 20s));
}

TEST(DisconnectDetector, IsJudgedAnewForEachAnswer) {
    DisconnectDetector client;
    EXPECT_FALSE(client.has_left(Line::half_closed, 0, kNow));
    client.begin();
    EXPECT_FALSE(client.has_left(Line::half_closed, 0, kNow + 10s));
}

TEST(DisconnectDetector, ShowsBehindBytesThatNobodyHasRead) {
    std::array<int, 2> ends{};
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()), 0);
    EXPECT_EQ(look_at_line(ends[0]), Line::open);
    ASSERT_EQ(::send(ends[1], "next", 4, MSG_NOSIGNAL), 4);
    EXPECT_EQ(look_at_line(ends[0]), Line::open);
    ::shutdown(ends[1], SHUT_WR);
    EXPECT_EQ(look_at_line(ends[0]), Line::half_closed);
    ::close(ends[1]);
    EXPECT_EQ(look_at_line(ends[0]), Line::broken);
    ::close(ends[0]);
}

}  // namespace disconnect_detector_test
}  // namespace proxy
