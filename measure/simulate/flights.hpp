#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <queue>
#include <vector>

#include "measure/simulate/copy_freshness.hpp"

namespace measure {

/// The fetches in progress at simulated proxies. Another request for the same object at the same
/// proxy joins the fetch, as requests follow a fetch in a node.
class Flights {
public:
    using TimePoint = std::chrono::steady_clock::time_point;

    struct Flight {
        std::size_t proxy = 0;
        std::uint32_t object = 0;
        TimePoint ends;  // arrival of the object
        CopyFreshness::Copy copy;
        bool from_peer = false;
        bool of_origin = false;  // which has sent or confirmed it
        bool renews = false;     // it replaces a stored copy
        bool awaited = false;    // other requests have joined
    };

    /// Returns the fetch of an object at a proxy, or null.
    Flight* find(std::size_t proxy, std::uint32_t object) {
        const auto at = under_way_.find(key(proxy, object));
        return at == under_way_.end() ? nullptr : &at->second.flight;
    }
    /// Returns the fetch of an object from the origin at another proxy, or null.
    const Flight* of_another(std::size_t proxy, std::uint32_t object, std::size_t proxies) {
        for (std::size_t i = 0; i < proxies; ++i) {
            const auto* const flight = i == proxy ? nullptr : find(i, object);
            if (flight != nullptr && !flight->from_peer && !flight->renews) return flight;
        }
        return nullptr;
    }
    /// Begins a fetch, in place of an earlier one of that object.
    void begin(const Flight& flight) {
        const auto number = ++begun_;
        under_way_.insert_or_assign(key(flight.proxy, flight.object),
                                    NumberedFlight{flight, number});
        ends_.push({flight.ends, number, key(flight.proxy, flight.object)});
    }
    /// Removes and returns the first fetch that ends by `now`.
    std::optional<Flight> take_ended(TimePoint now) {
        while (!ends_.empty() && ends_.top().at <= now) {
            const auto end = ends_.top();
            ends_.pop();
            const auto at = under_way_.find(end.key);
            if (at == under_way_.end() || at->second.number != end.number) continue;
            const auto flight = at->second.flight;
            under_way_.erase(at);
            return flight;
        }
        return std::nullopt;
    }
    /// Loses all fetches of a proxy.
    void drop(std::size_t proxy) {
        erase_if(under_way_,
                 [proxy](const auto& each) { return each.second.flight.proxy == proxy; });
    }

private:
    struct NumberedFlight {
        Flight flight;
        std::uint64_t number = 0;
    };
    struct End {
        TimePoint at;
        std::uint64_t number = 0, key = 0;
        bool operator>(const End& other) const {
            return at != other.at ? at > other.at : number > other.number;
        }
    };

    static std::uint64_t key(std::size_t proxy, std::uint32_t object) {
        return static_cast<std::uint64_t>(proxy) << 32 | object;
    }

    boost::unordered_flat_map<std::uint64_t, NumberedFlight> under_way_;
    std::priority_queue<End, std::vector<End>, std::greater<>> ends_;
    std::uint64_t begun_ = 0;
};

}  // namespace measure
