#pragma once

#include <chrono>
#include <cstdint>

#include "measure/simulate/freshness.hpp"
#include "measure/simulate/holders.hpp"
#include "measure/simulate/objects.hpp"
#include "measure/simulate/simulation_config.hpp"
#include "summary/peer_set.hpp"

namespace measure {

/// How simulated proxies know what the others hold, over virtual time. Told of all that is stored
/// and evicted.
class Knowledge {
public:
    using TimePoint = std::chrono::steady_clock::time_point;

    virtual ~Knowledge() = default;

    /// All that happens until `now`, which never goes back.
    virtual void advance(TimePoint now) = 0;
    /// What is held has changed already.
    virtual void stored(std::size_t proxy, std::uint32_t object, TimePoint now) = 0;
    virtual void removed(std::size_t proxy, std::uint32_t object, TimePoint now) = 0;
    /// Its own summary is to be as wrong as this at most; for those whose sizes follow from that.
    virtual void set_error(std::size_t, double, TimePoint) {}
    /// It comes back with nothing stored, for which removed() is not called.
    virtual void restarted(std::size_t, TimePoint) {}

    /// Whom `proxy` believes to hold it, itself left out.
    virtual summary::PeerSet candidates(std::size_t proxy, std::uint32_t object) const = 0;
    /// Of a peer that was asked and does not have it: had it told `proxy` that it has, as far as
    /// `proxy` has heard? If not, the summary never was right.
    virtual bool was_told(std::size_t proxy, std::size_t peer, std::uint32_t object) const = 0;

    /// What has been announced until now.
    struct Announced {
        std::uint64_t messages = 0, bytes = 0, snapshots = 0;
    };
    virtual Announced announced() const = 0;
    /// Of one proxy, for summaries: its own and its peers'.
    virtual std::uint64_t summary_bytes() const = 0;
};

/// What a way of knowing works on. All of it outlives that.
struct Shared {
    const SimulationConfig& config;
    const Objects& objects;
    const Holders& holders;
    const Freshness& freshness;
    std::uint64_t expected_objects;  // of one proxy, if filters are made for so many
    Knowledge::TimePoint start;
};

}  // namespace measure
