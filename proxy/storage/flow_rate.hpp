#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>

namespace proxy {

/// A request for a range of an arriving body waits for its bytes at most this long, or as long as
/// the origin usually takes to answer, if that is longer. Otherwise the range becomes a request of
/// its own.
inline constexpr std::chrono::milliseconds kWaitForFlow{500};

/// The rate at which a body arrives, pauses included, over the last second or two. Callers pass the
/// time. One thread.
class FlowRate {
public:
    using Time = std::chrono::steady_clock::time_point;
    using Duration = std::chrono::nanoseconds;

    static constexpr std::chrono::seconds kWindow{1};
    /// The rate is known after this time. Bytes from before were in the socket already, so they are
    /// left out.
    static constexpr std::chrono::milliseconds kKnownAfter{20};

    /// Notes the arrival of bytes.
    void came(std::uint64_t bytes, Time now) {
        begin(now);
        if (now - *newer_.since >= kWindow) {
            older_ = newer_;
            newer_ = {now, 0};
        }
        newer_.bytes += bytes;
    }
    /// The time from which bytes are awaited.
    void begin(Time now) {
        if (!newer_.since) newer_.since = now;
    }

    /// The time until so many more bytes have come; empty if the rate is unknown.
    std::optional<Duration> time_for(std::uint64_t bytes, Time now) const {
        const auto& from = older_.since ? older_ : newer_;
        if (bytes == 0) return Duration(0);
        if (!from.since || now - *from.since < kKnownAfter) return std::nullopt;
        const auto came = older_.bytes + newer_.bytes;
        const std::chrono::duration<double> took = now - *from.since;
        const auto seconds = took.count() * static_cast<double>(bytes) /
                             static_cast<double>(std::max<std::uint64_t>(came, 1));
        constexpr double kLongest = 1e6;  // s
        return std::chrono::duration_cast<Duration>(
            std::chrono::duration<double>(std::min(seconds, kLongest)));
    }

private:
    struct Window {
        std::optional<Time> since;
        std::uint64_t bytes = 0;
    };
    Window older_, newer_;
};

/// A range that lies `bytes_ahead` of the position of a body becomes a request of its own. `usual`
/// is the usual time of the origin's answers, or zero if it is unknown. False while the rate is
/// unknown.
inline bool is_far_ahead(const FlowRate& rate, std::uint64_t bytes_ahead, FlowRate::Duration usual,
                         FlowRate::Time now) {
    const auto time = rate.time_for(bytes_ahead, now);
    return time && *time > std::max<FlowRate::Duration>(kWaitForFlow, usual);
}

}  // namespace proxy
