#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>

namespace proxy {

/// So many requests in a row that an origin left without an answer, and it is taken to be down: it
/// is not asked for a while, which doubles up to the maximum. Then one request at a time tries.
inline constexpr unsigned kOriginTimeouts = 3;
inline constexpr std::chrono::seconds kOriginDownFirst{1};
inline constexpr std::chrono::seconds kOriginDownMax{30};
inline constexpr std::size_t kMaxOriginsWatched = 1024;  // more are not judged

/// Which origins hang, so that not every request has to find out by waiting. Only silence counts:
/// an origin that refuses or answers badly says so at once. Function of (state, event, now), by
/// place (UpstreamPool's word). One thread.
class OriginHealth {
public:
    using Time = std::chrono::steady_clock::time_point;

    enum class Leave : std::uint8_t {
        ask,
        probe,  // ask; until the end of this question nobody else may
        no,     // it is down
    };
    Leave may_ask(const std::string& place, Time now);

    enum class End : std::uint8_t {
        answered,   // or refused, or broke off: there is somebody
        timed_out,  // by then it had not taken the connection, or not begun its answer
        untold,     // it was not the origin that ended the question
    };
    enum class Change : std::uint8_t { none, went_down, came_back };
    /// The end of a question that began at `began` with this leave (not `no`): once for each.
    Change ended(const std::string& place, Leave leave, End end, Time began, Time now);

    std::size_t down() const { return down_; }

private:
    struct Origin {
        unsigned timeouts = 0;  // in a row
        Time answered_at{};
        bool is_down = false, probed = false;
        Time ask_again_at{};
        std::chrono::nanoseconds pause{0};
    };
    /// Null when there is no room.
    Origin* find(const std::string& place);

    std::unordered_map<std::string, Origin> origins_;
    std::size_t down_ = 0;
};

}  // namespace proxy
