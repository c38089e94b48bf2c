#pragma once

#include <chrono>
#include <cstdint>

#include "measure/simulate/copy_freshness.hpp"
#include "measure/simulate/holders.hpp"
#include "measure/simulate/objects.hpp"
#include "measure/simulate/simulation_config.hpp"
#include "summary/directory/peer_set.hpp"

namespace measure {

/// The knowledge of simulated proxies about the objects of the others, over virtual time. The
/// simulation reports every stored and evicted object to it.
class Knowledge {
public:
    using TimePoint = std::chrono::steady_clock::time_point;

    virtual ~Knowledge() = default;

    /// Processes all events until `now`, which never decreases.
    virtual void advance(TimePoint now) = 0;
    /// Called after the caches have changed.
    virtual void stored(std::size_t proxy, std::uint32_t object, TimePoint now) = 0;
    virtual void removed(std::size_t proxy, std::uint32_t object, TimePoint now) = 0;
    /// Sets the largest error of a proxy's own summary. Only summaries with sizes that follow from
    /// it care.
    virtual void set_error(std::size_t, double, TimePoint) {}
    /// A proxy restarts with an empty cache; removed() is not called for its objects.
    virtual void restarted(std::size_t, TimePoint) {}

    /// Returns the other proxies that hold an object, as `proxy` believes.
    virtual summary::PeerSet candidates(std::size_t proxy, std::uint32_t object) const = 0;
    /// Called after `peer` denied an object. Returns true if `proxy` had received its announcement.
    /// Otherwise the summary was wrong from the start.
    virtual bool was_announced(std::size_t proxy, std::size_t peer, std::uint32_t object) const = 0;

    /// The announcements so far.
    struct AnnouncementTotals {
        std::uint64_t messages = 0, bytes = 0, snapshots = 0;
    };
    virtual AnnouncementTotals announced() const = 0;
    /// Memory of one proxy for summaries: its own and its peers'.
    virtual std::uint64_t summary_bytes() const = 0;
};

/// The arguments of every kind of knowledge, which they must outlive.
struct KnowledgeInputs {
    const SimulationConfig& config;
    const Objects& objects;
    const Holders& holders;
    const CopyFreshness& freshness;
    std::uint64_t expected_objects;  // of one proxy; sizes filters that need it
    Knowledge::TimePoint start;
};

}  // namespace measure
