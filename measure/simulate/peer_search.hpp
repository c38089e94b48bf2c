#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "measure/simulate/knowledge.hpp"
#include "measure/simulate/network.hpp"

namespace measure {

// The paper's model of ICP: query and reply consist of a head and a URL each.
inline constexpr std::uint64_t kIcpBytes = 20 + 50;

/// Answers a miss from other proxies: decides which ones to ask, in which order, and how long that
/// takes.
class PeerSearch {
public:
    using TimePoint = Knowledge::TimePoint;

    struct Answer {
        std::optional<std::size_t> from;  // the proxy that answers; none: the origin
        std::optional<std::size_t>
            stale_at;  // a proxy with a stale copy, which the origin must validate
        SimulatedLines::Duration waited{0};  // time until the answer
        bool too_far = false;  // a summary promises the object, but the origin is nearer
    };

    virtual ~PeerSearch() = default;

    /// Answers a miss. Counts peer requests, false hits, failures and queries in `counts`.
    virtual Answer ask(std::size_t proxy, std::uint32_t object, const summary::PeerSet& candidates,
                       TimePoint now, SimulationCounts& counts) = 0;
    /// Forgets everything that this proxy has learnt.
    virtual void restarted(std::size_t) {}
};

}  // namespace measure
