#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

#include "proxy/config/config.hpp"
#include "proxy/net/pace.hpp"
#include "proxy/storage/fill.hpp"

namespace proxy {

/// The pace at which a client has to take a response. Usually timeouts.body_idle and
/// limits.client_rate_min say it. A client that keeps others waiting, because all read one body
/// that arrives and is too large for the store, has to take kRateForOthers in each
/// kWindowForOthers. Thread of the client's connection.
class TakingPace {
public:
    using Clock = Pace::Clock;
    static constexpr std::chrono::seconds kWindowForOthers{10};
    static constexpr std::uint64_t kRateForOthers = 64 * 1024;  // bytes per second

    /// Starts again, for the next response.
    void begin() { pace_.begin(); }
    bool begun() const { return pace_.begun(); }
    /// The response is read from this reader, or from null if nobody waits for its client. The
    /// reader outlives the reading.
    void follow(const Fill::Reader* reader) { reader_ = reader; }

    /// As Pace::wait().
    Clock::time_point wait(Clock::time_point now, std::int64_t moved, const Config& config) {
        const auto until = pace_.wait(now, moved, demand(config).window);
        return reader_ ? std::min<Clock::time_point>(until, now + kWindowForOthers) : until;
    }
    /// As Pace::fast_enough().
    template <class Moved>
    bool fast_enough(Clock::time_point now, const Config& config, Moved moved) {
        const auto [window, least] = demand(config);
        return pace_.fast_enough(now, window, least, moved);
    }

private:
    struct Demand {
        Clock::duration window;
        std::uint64_t least;  // bytes in it
    };
    Demand demand(const Config& config) const {
        Clock::duration window = config.timeouts.body_idle;
        auto rate = config.limits.client_rate_min;
        if (reader_ && reader_->keeps_others_waiting()) {
            window = std::min<Clock::duration>(window, kWindowForOthers);
            rate = std::max(rate, kRateForOthers);
        }
        return {window, least_bytes(rate, window)};
    }

    Pace pace_;
    const Fill::Reader* reader_ = nullptr;
};

}  // namespace proxy
