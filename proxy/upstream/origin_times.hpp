#pragma once

#include <cstddef>
#include <list>
#include <string>
#include <unordered_map>

#include "proxy/upstream/round_trip.hpp"

namespace proxy {

inline constexpr std::size_t kMaxOriginsTimed = 1024;  // then the one asked least recently goes

/// How long each origin takes from a request to the head of its answer, by place (UpstreamPool's
/// word). One worker's own experience; one thread.
class OriginTimes {
public:
    struct Origin {
        std::string place;
        RoundTrip round_trip;
    };

    void measured(const std::string& place, RoundTrip::Duration time) {
        const auto [known, is_new] = by_place_.try_emplace(place);
        if (is_new)
            known->second = origins_.insert(origins_.begin(), Origin{place, {}});
        else
            origins_.splice(origins_.begin(), origins_, known->second);
        origins_.front().round_trip.measured(time);
        if (origins_.size() <= kMaxOriginsTimed) return;
        by_place_.erase(origins_.back().place);
        origins_.pop_back();
    }

    /// Not known() of an origin that was never asked, or long ago.
    RoundTrip of(const std::string& place) const {
        const auto known = by_place_.find(place);
        return known == by_place_.end() ? RoundTrip() : known->second->round_trip;
    }

    /// The last one measured in front.
    const std::list<Origin>& origins() const { return origins_; }

private:
    using Origins = std::list<Origin>;

    Origins origins_;
    std::unordered_map<std::string, Origins::iterator> by_place_;
};

}  // namespace proxy
