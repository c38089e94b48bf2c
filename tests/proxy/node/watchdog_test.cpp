#include "proxy/node/watchdog.hpp"

#include <gtest/gtest.h>

namespace proxy {
namespace watchdog_test {

class WatchdogTest : public testing::Test {
protected:
    /// One round of each worker's event loop.
    static void turn(boost::asio::io_context& io) {
        io.restart();
        io.poll();
    }

    boost::asio::io_context control, one, two;
    std::atomic<bool> one_ended{false}, two_ended{false};
    int alive = 0;
    Watchdog dog{control,
                 {{one.get_executor(), &one_ended}, {two.get_executor(), &two_ended}},
                 std::chrono::hours(1),
                 [this] { ++alive; }};
};

TEST_F(WatchdogTest, SaysThatTheNodeIsAliveWhileAllWorkersTurn) {
    for (int i = 1; i <= 3; ++i) {
        dog.look();
        EXPECT_EQ(alive, i);
        turn(one);
        turn(two);
    }
}

TEST_F(WatchdogTest, IsSilentWhileOneWorkerDoesNotTurn) {
    dog.look();
    for (int i = 0; i < 3; ++i) {
        turn(one);
        dog.look();
        EXPECT_EQ(alive, 1);
    }
    turn(two);
    dog.look();
    EXPECT_EQ(alive, 2);
}

TEST_F(WatchdogTest, ExpectsNothingOfAWorkerThatHasEnded) {
    dog.look();
    turn(one);
    two_ended = true;
    dog.look();
    EXPECT_EQ(alive, 2);
}

TEST_F(WatchdogTest, BeginsAtOnceAndHoldsNothingUpOnceItIsStopped) {
    dog.start();
    EXPECT_EQ(alive, 1);
    dog.stop();
    control.run();  // returns: the timer is gone
    EXPECT_EQ(alive, 1);
}

}  // namespace watchdog_test
}  // namespace proxy
