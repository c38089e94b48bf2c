#pragma once

#include <chrono>
#include <optional>

#include "base/async/timer_wheel.hpp"
#include "proxy/fetch/fetch_job.hpp"
#include "proxy/storage/fill.hpp"

namespace proxy {

/// The time that a fetch has been without readers, as seen by looks now and then.
class ReaderlessTime {
public:
    using Clock = std::chrono::steady_clock;

    /// True when the fetch is to end.
    bool too_long(const Fill::Audience& audience, Clock::time_point now) {
        if (audience.readers > 0) {
            since_.reset();
            return false;
        }
        if (!since_ || joined_ != audience.joined) since_ = now;
        joined_ = audience.joined;
        return now - *since_ >= audience.alone_at_most;
    }

private:
    std::optional<Clock::time_point> since_;
    std::uint64_t joined_ = 0;
};

/// Ends a fetch without readers, wherever it waits. Belongs to its coroutine.
class ReaderTimeout final : base::TimerWheel::Timer {
public:
    static constexpr std::chrono::seconds kLook{1};

    /// Both must outlive this.
    ReaderTimeout(base::TimerWheel& wheel, FetchJob& job) : wheel_(wheel), job_(job) { arm(); }

private:
    void arm() { wheel_.arm(*this, ReaderlessTime::Clock::now() + kLook); }
    void expire() override {
        auto audience = job_.result.fill->audience();
        if (job_.progress.beside)
            audience.readers += job_.progress.beside->result.fill->audience().readers;
        if (job_.progress.flow) audience += job_.progress.flow->get().audience();
        if (!solitude_.too_long(audience, ReaderlessTime::Clock::now())) return arm();
        job_.progress.given_up = true;
        if (job_.progress.beside) job_.progress.beside->progress.given_up = true;
        job_.progress.stop();  // last, as it may destroy this
    }

    base::TimerWheel& wheel_;
    FetchJob& job_;
    ReaderlessTime solitude_;
};

}  // namespace proxy
