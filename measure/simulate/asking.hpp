#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "measure/simulate/knowledge.hpp"
#include "measure/simulate/network.hpp"

namespace measure {

// The paper's model of ICP: a query is a head and a URL; a reply is the same.
inline constexpr std::uint64_t kIcpBytes = 20 + 50;

/// A miss asks other proxies: those that may have the object, in which order, how long that takes.
class Asking {
public:
    using TimePoint = Knowledge::TimePoint;

    struct Answer {
        std::optional<std::size_t> from;  // none: the origin
        std::optional<std::size_t>
            stale_at;  // has it, and the origin must be asked whether so still
        SimulatedLines::Duration waited{0};  // until the answer is there
        bool too_far = false;                // some are said to have it; the origin is nearer
    };

    virtual ~Asking() = default;

    /// Counts questions, false hits, failures, queries.
    virtual Answer ask(std::size_t proxy, std::uint32_t object, const summary::PeerSet& candidates,
                       TimePoint now, SimulationCounts& counts) = 0;
    /// What it has learnt is gone.
    virtual void restarted(std::size_t) {}
};

}  // namespace measure
