#pragma once

#include <chrono>
#include <cstdint>
#include <memory>

#include "measure/simulate/holders.hpp"
#include "measure/simulate/objects.hpp"
#include "measure/simulate/simulation.hpp"
#include "summary/peer_set.hpp"

namespace measure {

/// How simulated proxies know what the others hold, over virtual time. Told of all that is stored
/// and evicted.
class Sharing {
public:
    using TimePoint = std::chrono::steady_clock::time_point;

    virtual ~Sharing() = default;

    /// All that happens until `now`, which never goes back.
    virtual void advance(TimePoint now) = 0;
    virtual void stored(std::size_t proxy, std::uint32_t object, TimePoint now) = 0;
    virtual void removed(std::size_t proxy, std::uint32_t object, TimePoint now) = 0;
    /// It comes back with nothing stored; removed() was not called.
    virtual void restarted(std::size_t proxy, TimePoint now) = 0;

    /// Whom `proxy` believes to hold it, itself left out.
    virtual summary::PeerSet candidates(std::size_t proxy, std::uint32_t object) = 0;
    /// Of a peer that was asked and does not have it: had it told `proxy` so, as far as `proxy` has
    /// heard? Then the summary was right once; else it never was.
    virtual bool was_told(std::size_t proxy, std::size_t peer, std::uint32_t object) const = 0;
    /// Can one reach the other now?
    virtual bool reaches(std::size_t, std::size_t) const { return true; }

    /// What has been announced until now.
    struct Announced {
        std::uint64_t messages = 0, bytes = 0, snapshots = 0;
    };
    virtual Announced announced() const = 0;
    /// Of one proxy, for summaries: its own and its peers'.
    virtual std::uint64_t summary_bytes() const = 0;
};

/// Null for schemes without. What is given must outlive it.
std::unique_ptr<Sharing> make_sharing(const SimulationConfig& config, const Objects& objects,
                                      const Holders& holders, Sharing::TimePoint start);

}  // namespace measure
