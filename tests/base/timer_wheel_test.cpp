#include "base/async/timer_wheel.hpp"

#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <chrono>

namespace base {
namespace timer_wheel_test {

using namespace std::chrono_literals;

/// A timer that notes when it went off.
struct Noted final : TimerWheel::Timer {
    void expire() override {
        ++expired;
        at = TimerWheel::Clock::now();
    }
    int expired = 0;
    TimerWheel::Clock::time_point at;
};

TEST(TimerWheel, ExpiresOnceAtTheDeadlineOrATickLater) {
    boost::asio::io_context io;
    TimerWheel wheel(io.get_executor());
    Noted soon, moved, never;
    const auto begun = TimerWheel::Clock::now();
    wheel.arm(soon, begun + 30ms);
    wheel.arm(moved, begun + 10ms);
    wheel.arm(moved, begun + 60ms);  // put off
    wheel.arm(never, begun + 20ms);
    wheel.disarm(never);
    io.run();  // until nothing is armed: then it ticks no more
    EXPECT_GE(soon.at - begun, 30ms);
    EXPECT_GE(moved.at - begun, 60ms);
    EXPECT_EQ(soon.expired, 1);
    EXPECT_EQ(moved.expired, 1);
    EXPECT_EQ(never.expired, 0);
}

TEST(TimerWheel, ForgetsATimerThatIsGone) {
    boost::asio::io_context io;
    TimerWheel wheel(io.get_executor());
    struct Counting final : TimerWheel::Timer {
        explicit Counting(int& into) : count(into) {}
        void expire() override { ++count; }
        int& count;
    };
    int expired = 0;
    Counting other(expired);
    {
        Counting gone(expired);
        wheel.arm(gone, TimerWheel::Clock::now() + 20ms);
        wheel.arm(other, TimerWheel::Clock::now() + 40ms);
    }
    io.run();
    EXPECT_EQ(expired, 1) << "of the timer that remains";
}

TEST(TimerWheel, RestsWhileNobodyUsesItAndIsInTimeAllTheSame) {
    boost::asio::io_context io;
    TimerWheel wheel(io.get_executor());
    Noted soon, late;
    const auto begun = TimerWheel::Clock::now();
    wheel.arm(late, begun + 700ms);
    const auto turns = io.run_for(400ms);
    EXPECT_LE(turns, TimerWheel::kIdleAfter + 2) << "40 ticks have passed";
    EXPECT_LT(TimerWheel::Clock::now() - wheel.now(), 2 * TimerWheel::kTick + 20ms)
        << "a call ends the rest";
    wheel.arm(soon, TimerWheel::Clock::now() + 30ms);
    const auto armed = TimerWheel::Clock::now();
    io.run();
    EXPECT_EQ(soon.expired, 1);
    EXPECT_GE(soon.at - armed, 20ms);
    EXPECT_LT(soon.at - armed, 200ms);
    EXPECT_EQ(late.expired, 1);
    EXPECT_GE(late.at - begun, 700ms);
}

TEST(TimerWheel, RestsBetweenTheExpiriesOfATimerThatArmsItselfAgain) {
    boost::asio::io_context io;
    TimerWheel wheel(io.get_executor());
    struct Look final : TimerWheel::Timer {
        explicit Look(TimerWheel& of) : wheel(of) {}
        void expire() override {
            ++times;
            wheel.arm(*this, TimerWheel::Clock::now() + 100ms);
        }
        TimerWheel& wheel;
        int times = 0;
    } look(wheel);
    wheel.arm(look, TimerWheel::Clock::now() + 100ms);
    const auto turns = io.run_for(1s);
    EXPECT_GE(look.times, 5);
    EXPECT_LE(turns, TimerWheel::kIdleAfter + 2 + static_cast<unsigned>(look.times))
        << "100 ticks have passed";
}

}  // namespace timer_wheel_test
}  // namespace base
