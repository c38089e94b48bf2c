#include "proxy/upstream/origin_health.hpp"

#include <algorithm>

namespace proxy {

OriginHealth::Grant OriginHealth::may_ask(const std::string& place, bool has_stand_in, Time now) {
    const auto found = origins_.find(place);
    if (found == origins_.end()) return Grant::ask;
    auto& origin = found->second;
    const auto breaker_open =
        origin.state == State::down || (origin.state == State::silent && has_stand_in);
    if (!breaker_open) return Grant::ask;
    if (now < origin.ask_again_at) return Grant::no;
    origin.pause = std::min<std::chrono::nanoseconds>(2 * origin.pause, kOriginPauseMax);
    origin.ask_again_at = now + origin.pause;
    return Grant::trial;
}

OriginHealth::Origin* OriginHealth::find(const std::string& place, Time now) {
    const auto found = origins_.find(place);
    if (found != origins_.end()) return &found->second;
    if (origins_.size() >= kMaxOriginsWatched) {
        std::erase_if(origins_, [&](const auto& entry) {
            const auto& origin = entry.second;
            if (origin.state == State::up) return true;
            if (now - origin.ask_again_at <= kOriginForgotten) return false;
            --down_;
            return true;
        });
        if (origins_.size() >= kMaxOriginsWatched) return nullptr;
    }
    return &origins_[place];
}

OriginHealth::Change OriginHealth::leave_alone(Origin& origin, State state, Time now) {
    if (origin.state == State::up) ++down_;
    origin.state = state;
    origin.since = now;
    origin.pause = kOriginPauseFirst;
    origin.ask_again_at = now + origin.pause;
    return state == State::down ? Change::went_down : Change::fell_silent;
}

OriginHealth::Change OriginHealth::ended(const std::string& place, End end, Time began, Time now) {
    if (end == End::unknown) return Change::none;
    auto* origin = find(place, now);
    if (origin == nullptr) return Change::none;
    if (end == End::answered) {
        origin->timeouts = origin->connects = 0;
        origin->answered_at = now;
        if (origin->state == State::up) return Change::none;
        origin->state = State::up;
        --down_;
        return Change::came_back;
    }
    // The origin has responded to others meanwhile, so only this resource is slow.
    if (began < origin->answered_at) return Change::none;
    ++origin->timeouts;
    if (end == End::not_connected) {
        if (++origin->connects >= kOriginTimeouts && origin->state != State::down)
            return leave_alone(*origin, State::down, now);
    } else if (origin->state == State::down && began >= origin->since) {
        origin->connects = 0;  // it takes connections again
        return leave_alone(*origin, State::silent, now);
    }
    if (origin->state != State::up || origin->timeouts < kOriginTimeouts) return Change::none;
    return leave_alone(*origin, State::silent, now);
}

}  // namespace proxy
