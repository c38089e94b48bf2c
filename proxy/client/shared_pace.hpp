#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

#include "base/async/pace.hpp"
#include "proxy/storage/fill.hpp"

namespace proxy {

/// The minimum rate of a client while others wait for it: they read the same body, which is not
/// being stored, and its window opens only as the slowest of them takes bytes. A client alone, or
/// among equally slow ones, has the limits of Pace only. A plain object of one thread.
class SharedPace {
public:
    using Clock = base::Pace::Clock;
    static constexpr std::chrono::seconds kWindow{10};  // at most
    static constexpr std::uint64_t kRate = 64 * 1024;   // bytes per second

    /// The window where a client alone may rest for `body_idle`.
    static Clock::duration window(std::chrono::nanoseconds body_idle) {
        return std::min<Clock::duration>(kWindow, body_idle / 6);
    }

    /// Starts again, for the next response.
    void begin() { pace_.begin(); }
    bool begun() const { return pace_.begun(); }

    /// Notes the start of a wait for the client. `moved` is that of Pace::wait(); `others_waited`
    /// is Fill::Reader::others_waited(). Returns the time of the next check.
    Clock::time_point wait(Clock::time_point now, std::int64_t moved, Clock::duration others_waited,
                           Clock::duration window) {
        if (!pace_.begun()) others_waited_then_ = others_waited;
        return pace_.wait(now, moved, window);
    }

    /// Notes the end of the wait. Returns false if others have waited for half of a full window or
    /// longer, and too few bytes have moved in it.
    template <class Moved>
    bool fast_enough(Clock::time_point now, Clock::duration others_waited, Clock::duration window,
                     Moved moved) {
        auto is_full = false;
        const auto look = [&] {
            is_full = true;
            return moved();
        };
        const auto enough = pace_.fast_enough(now, window, base::least_bytes(kRate, window), look);
        if (!is_full) return true;
        const auto waited = others_waited - others_waited_then_;
        others_waited_then_ = others_waited;
        return enough || 2 * waited < window;
    }

private:
    base::Pace pace_;
    Clock::duration others_waited_then_{};  // at the window's begin
};

/// Both minimum rates of a client that takes a response. `reader`: that of
/// ResponseWriter::write_rest(); null: nobody waits for this client.
class ResponsePace {
public:
    using Clock = base::Pace::Clock;

    /// Starts again, for the next response.
    void begin() {
        own_.begin();
        with_others_.begin();
    }

    /// Notes the start of a wait for the client. `moved`: bytes so far. Returns the time of the
    /// next check.
    template <class Moved>
    Clock::time_point wait(Clock::time_point now, Clock::duration window,
                           const Fill::Reader* reader, Moved moved) {
        const auto look = own_.wait(now, own_.begun() ? 0 : moved(), window);
        if (!reader) return look;
        const auto of_others = reader->others_waited(now);
        return std::min(look, with_others_.wait(now, with_others_.begun() ? 0 : moved(), of_others,
                                                SharedPace::window(window)));
    }

    /// Notes the end of the wait. Returns false if the client takes too little.
    template <class Moved>
    bool fast_enough(Clock::time_point now, Clock::duration window, std::uint64_t least,
                     const Fill::Reader* reader, Moved moved) {
        return own_.fast_enough(now, window, least, moved) &&
               (!reader || with_others_.fast_enough(now, reader->others_waited(now),
                                                    SharedPace::window(window), moved));
    }

private:
    base::Pace own_;
    SharedPace with_others_;
};

}  // namespace proxy
