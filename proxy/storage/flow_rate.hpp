#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>

namespace proxy {

/// A range within a body that is on its way waits for its bytes at most so long; or as long as the
/// origin takes to answer, if that is longer. Else it is asked of the origin by itself.
inline constexpr std::chrono::milliseconds kWaitForFlow{500};

/// How fast one body comes now, pauses included: of the last second or two. No clock; one thread.
class FlowRate {
public:
    using Time = std::chrono::steady_clock::time_point;
    using Duration = std::chrono::nanoseconds;

    static constexpr std::chrono::seconds kWindow{1};
    /// What comes sooner says nothing: it was in the socket already.
    static constexpr std::chrono::milliseconds kTells{20};

    /// So many bytes came.
    void came(std::uint64_t bytes, Time now) {
        begin(now);
        if (now - *newer_.since >= kWindow) {
            older_ = newer_;
            newer_ = {now, 0};
        }
        newer_.bytes += bytes;
    }
    /// From now on bytes are waited for.
    void begin(Time now) {
        if (!newer_.since) newer_.since = now;
    }

    /// When so many more will have come; none: that cannot be told yet.
    std::optional<Duration> time_for(std::uint64_t bytes, Time now) const {
        const auto& from = older_.since ? older_ : newer_;
        if (bytes == 0) return Duration(0);
        if (!from.since || now - *from.since < kTells) return std::nullopt;
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

/// Whether a range that lies so many bytes ahead of where a body has come to is asked of the origin
/// by itself. `usual`: how long the origin takes to answer; zero if that is not known. False while
/// the rate cannot be told.
inline bool is_far_ahead(const FlowRate& rate, std::uint64_t bytes_ahead, FlowRate::Duration usual,
                         FlowRate::Time now) {
    const auto time = rate.time_for(bytes_ahead, now);
    return time && *time > std::max<FlowRate::Duration>(kWaitForFlow, usual);
}

}  // namespace proxy
