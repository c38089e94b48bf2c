#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>

namespace proxy {

/// After this many requests in a row without a response the origin gets a pause. Requests with a
/// stored stand-in skip it then. If it did not even take connections, all requests skip it.
inline constexpr unsigned kOriginTimeouts = 3;
/// At the end of each pause one request tries, however long its predecessors take.
inline constexpr std::chrono::seconds kOriginPauseFirst{1};
inline constexpr std::chrono::seconds kOriginPauseMax{3};
/// After this time without a try an origin makes room for others.
inline constexpr std::chrono::minutes kOriginForgotten{5};
inline constexpr std::size_t kMaxOriginsWatched = 1024;  // more are not judged

/// The origins that hang, so that only some requests wait for them. Only silence counts: an origin
/// that refuses, or answers badly, does so at once. An origin that takes connections but leaves
/// requests open may have a few slow resources, so a request without a stand-in still goes out. Any
/// response shows that the origin is back. Function of (state, event, now), by place (see
/// UpstreamPool). One thread.
class OriginHealth {
public:
    using Time = std::chrono::steady_clock::time_point;

    enum class Grant : std::uint8_t {
        ask,
        trial,  // ask: the one request of this pause that finds out whether it is back
        no,     // the origin has its pause
    };
    /// `has_stand_in`: a stored response may be given instead.
    Grant may_ask(const std::string& place, bool has_stand_in, Time now);

    enum class End : std::uint8_t {
        answered,       // also by a refusal or a cut: a server is there
        not_connected,  // it had not taken the connection by then
        not_answered,   // it had not begun its response by then
        unknown,        // another cause ended the request
    };
    enum class Change : std::uint8_t {
        none,
        fell_silent,  // it leaves requests without a response
        went_down,    // it takes no connections
        came_back,
    };
    /// Notes the end of a request that began at `began` after may_ask().
    Change ended(const std::string& place, End end, Time began, Time now);

    /// The number of origins that are silent or down.
    std::size_t down() const { return down_; }

private:
    enum class State : std::uint8_t { up, silent, down };
    struct Origin {
        State state = State::up;
        unsigned timeouts = 0;  // in a row
        unsigned connects = 0;  // connections not taken, without a response in between
        Time answered_at{};
        Time since{};  // in this state
        Time ask_again_at{};
        std::chrono::nanoseconds pause{0};
    };
    /// Null when there is no room.
    Origin* find(const std::string& place, Time now);
    Change leave_alone(Origin& origin, State state, Time now);

    std::unordered_map<std::string, Origin> origins_;
    std::size_t down_ = 0;
};

}  // namespace proxy
