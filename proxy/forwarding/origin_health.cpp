#include "proxy/forwarding/origin_health.hpp"

#include <algorithm>

namespace proxy {

OriginHealth::Leave OriginHealth::may_ask(const std::string& place, Time now) {
    const auto found = origins_.find(place);
    if (found == origins_.end() || !found->second.is_down) return Leave::ask;
    auto& origin = found->second;
    if (origin.probed || now < origin.ask_again_at) return Leave::no;
    origin.probed = true;
    return Leave::probe;
}

OriginHealth::Origin* OriginHealth::find(const std::string& place) {
    const auto found = origins_.find(place);
    if (found != origins_.end()) return &found->second;
    if (origins_.size() >= kMaxOriginsWatched) {
        std::erase_if(origins_, [](const auto& entry) { return !entry.second.is_down; });
        if (origins_.size() >= kMaxOriginsWatched) return nullptr;
    }
    return &origins_[place];
}

OriginHealth::Change OriginHealth::ended(const std::string& place, Leave leave, End end, Time began,
                                         Time now) {
    auto* origin = find(place);
    if (origin == nullptr) return Change::none;
    if (leave == Leave::probe) origin->probed = false;
    switch (end) {
        case End::untold:
            return Change::none;
        case End::answered:
            origin->timeouts = 0;
            origin->answered_at = now;
            if (!origin->is_down) return Change::none;
            origin->is_down = false;
            --down_;
            return Change::came_back;
        case End::timed_out:
            break;
    }
    if (origin->is_down) {
        if (leave != Leave::probe) return Change::none;  // one of those that brought it down
        origin->pause = std::min<std::chrono::nanoseconds>(2 * origin->pause, kOriginDownMax);
        origin->ask_again_at = now + origin->pause;
        return Change::none;
    }
    // It answered others meanwhile: what is slow is this one resource.
    if (began < origin->answered_at) return Change::none;
    if (++origin->timeouts < kOriginTimeouts) return Change::none;
    origin->is_down = true;
    ++down_;
    origin->pause = kOriginDownFirst;
    origin->ask_again_at = now + origin->pause;
    return Change::went_down;
}

}  // namespace proxy
