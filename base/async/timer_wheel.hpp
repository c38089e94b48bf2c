#pragma once

#include <array>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <cstddef>

#include "base/async/sleep.hpp"

namespace base {

/// Deadlines of many connections at the cost of one timer. Arming a timer again is two stores; an
/// expiry comes at most one tick late. The wheel ticks while it is used. After kIdleAfter ticks
/// without a call it rests until the next slot with a timer, so idle connections wake the process
/// once per turn of the wheel and not at each tick. One thread.
class TimerWheel {
public:
    using Clock = std::chrono::steady_clock;
    static constexpr auto kTick = std::chrono::milliseconds(10);
    static constexpr std::size_t kSlots = 512;  // 5.1 s; a later deadline is checked once per turn
    static constexpr unsigned kIdleAfter = 16;

    /// A base for objects with a deadline. Its destructor unlinks it. The wheel outlives it.
    class Timer {
    public:
        Timer() = default;
        virtual ~Timer() { unlink(); }
        Timer(const Timer&) = delete;
        Timer& operator=(const Timer&) = delete;

    protected:
        /// Called once, after the deadline, when the timer is disarmed.
        virtual void expire() = 0;

    private:
        friend class TimerWheel;
        void unlink();

        TimerWheel* wheel_ = nullptr;
        Timer* previous_ = nullptr;
        Timer* next_ = nullptr;
        Clock::time_point expires_ = Clock::time_point::max();
        Clock::time_point due_ = Clock::time_point::max();  // time of the next check of its slot
    };

    explicit TimerWheel(boost::asio::any_io_executor executor);

    void arm(Timer& timer, Clock::time_point expires);
    void disarm(Timer& timer) { timer.expires_ = Clock::time_point::max(); }
    /// The time of the last tick, or of the end of a rest. Precise enough for deadlines, and nearly
    /// free to read.
    Clock::time_point now() {
        used();
        return now_;
    }
    /// Reads the steady clock at the price of one read, and notes it when the machine has slept.
    Clock::time_point read_clock() const {
        const auto time = base::awake_time();
        const auto since_tick = time - now_;
        if (since_tick < kIdleTicks && since_tick > -kIdleTicks) return time;
        base::note_sleep();
        return Clock::now();
    }
    void stop();

private:
    static constexpr auto kIdleTicks = std::chrono::seconds(1);

    struct Anchor final : Timer {
        void expire() override {}
    };

    void used() {
        unused_ticks_ = 0;
        if (!ticks_) wake();
    }
    void wake();
    void link(Timer& timer);
    void tick();
    std::size_t ticks_to_next() const;
    void schedule(std::size_t ticks);

    boost::asio::steady_timer timer_;
    std::array<Anchor, kSlots> slots_;
    Clock::time_point now_;
    std::size_t current_ = 0;  // slot of now_
    std::size_t linked_ = 0;
    unsigned unused_ticks_ = 0;
    bool ticks_ = false;  // else it rests, or has no timer
    bool stopped_ = false;
};

}  // namespace base
