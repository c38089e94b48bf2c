#include "protocol/links/cluster_status.hpp"

#include <gtest/gtest.h>

namespace protocol::test {
namespace cluster_status_test {

using namespace std::chrono_literals;
using TimePoint = std::chrono::steady_clock::time_point;

TEST(LastEnd, OfTheLinksInBothDirectionsTheLaterEndCounts) {
    const LastEnd closed{make_error_code(Error::connection_closed), TimePoint(10s)};
    const LastEnd unknown{make_error_code(Error::unknown_node), TimePoint(12s)};
    LastEnd shown;
    EXPECT_EQ(shown.reason(), "");
    shown.take_later(unknown);
    shown.take_later(closed);
    EXPECT_EQ(shown.reason(), "unknown_node");
    shown = closed;
    shown.take_later(unknown);
    EXPECT_EQ(shown.reason(), "unknown_node");
}

TEST(LastEnd, ALinkThatIsThereSaysNothingOfTheOther) {
    LastEnd shown{make_error_code(Error::unknown_node), TimePoint(12s)};
    shown.take_later({});
    EXPECT_EQ(shown.reason(), "unknown_node");
}

}  // namespace cluster_status_test
}  // namespace protocol::test
