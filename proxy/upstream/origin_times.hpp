#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/memory/recent_map.hpp"
#include "proxy/upstream/body_rate.hpp"
#include "proxy/upstream/fetch_meetings.hpp"
#include "proxy/upstream/round_trip.hpp"

namespace proxy {

inline constexpr std::size_t kMaxOriginsTimed =
    1024;  // beyond that the least recently asked one goes

/// The time from request to head, and the rate of bodies, for each origin by place (see
/// UpstreamPool). One worker's own experience; one thread.
class OriginTimes {
public:
    struct Origin {
        RoundTrip round_trip;
        BodyRate rate;
        bool is_http10 = false;  // its last response was of HTTP/1.0
        RoundTrip fetch;         // from a request for the store to the end of its body
        FetchMeetings meetings;
    };

    /// `version`: of the response, 10 or 11.
    void measured(const std::string& place, RoundTrip::Duration time, int version = 11) {
        auto& origin = use(place);
        origin.round_trip.measured(time);
        origin.is_http10 = version < 11;
    }
    /// Notes the version of a response alone.
    void spoke(const std::string& place, int version) {
        if (version < 11 || is_http10(place)) use(place).is_http10 = version < 11;
    }
    /// Requests for it must not be chunked (RFC 9112 §6.1).
    bool is_http10(const std::string& place) const {
        const auto* known = origins_.find(place);
        return known != nullptr && known->is_http10;
    }
    /// `waited`: for these bytes of one body, without the time of its readers.
    void body_measured(const std::string& place, std::uint64_t bytes, BodyRate::Duration waited) {
        use(place).rate.measured(bytes, waited);
    }

    /// A fetch for the store took this long, from its request to the end of the body.
    void fetched(const std::string& place, RoundTrip::Duration time) {
        use(place).fetch.measured(time);
    }
    /// Of an origin that is about to be asked; valid until the next call for another one.
    Origin& record(const std::string& place) { return use(place); }

    /// Not known() for an origin that was never asked, or long ago.
    RoundTrip of(const std::string& place) const {
        const auto* known = origins_.find(place);
        return known != nullptr ? known->round_trip : RoundTrip();
    }
    BodyRate rate_of(const std::string& place) const {
        const auto* known = origins_.find(place);
        return known != nullptr ? known->rate : BodyRate();
    }

    /// The last measured origin first.
    const auto& origins() const { return origins_.entries(); }

private:
    Origin& use(const std::string& place) {
        auto& origin = origins_.use(place);
        if (origins_.size() > kMaxOriginsTimed) origins_.drop_oldest();
        return origin;
    }

    base::RecentMap<std::string, Origin> origins_;
};

}  // namespace proxy
