#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>

namespace proxy {

/// So many requests in a row without an answer, and an origin is left alone for a while: by those
/// that something stored can stand in for, and by all if it did not even take the connections.
inline constexpr unsigned kOriginTimeouts = 3;
/// One request tries at the end of each pause, however long those before it take.
inline constexpr std::chrono::seconds kOriginPauseFirst{1};
inline constexpr std::chrono::seconds kOriginPauseMax{3};
/// Nobody tried for so long: forgotten when there is no room for others.
inline constexpr std::chrono::minutes kOriginForgotten{5};
inline constexpr std::size_t kMaxOriginsWatched = 1024;  // more are not judged

/// Which origins hang, so that not every request has to find out by waiting. Only silence counts:
/// an origin that refuses or answers badly says so at once. One that takes connections and leaves
/// requests without an answer may have a few slow resources and be well otherwise, so what has
/// nothing to stand in for it is asked all the same. Any answer shows that it is back. Function of
/// (state, event, now), by place (UpstreamPool's word). One thread.
class OriginHealth {
public:
    using Time = std::chrono::steady_clock::time_point;

    enum class Leave : std::uint8_t {
        ask,
        probe,  // ask: the one request of this pause that finds out whether it is back
        no,     // it is left alone
    };
    /// `has_stand_in`: there is something stored to be given in place of the answer.
    Leave may_ask(const std::string& place, bool has_stand_in, Time now);

    enum class End : std::uint8_t {
        answered,       // or refused, or broke off: there is somebody
        not_connected,  // by then it had not taken the connection
        not_answered,   // by then it had not begun its answer
        unknown,        // it was not the origin that ended the question
    };
    enum class Change : std::uint8_t {
        none,
        fell_silent,  // it leaves requests without an answer
        went_down,    // it does not take connections
        came_back,
    };
    /// The end of a question that began at `began`, after may_ask() let it.
    Change ended(const std::string& place, End end, Time began, Time now);

    /// Origins that are silent or down.
    std::size_t down() const { return down_; }

private:
    enum class State : std::uint8_t { up, silent, down };
    struct Origin {
        State state = State::up;
        unsigned timeouts = 0;  // in a row
        unsigned connects = 0;  // connections not taken, with no answer in between
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
