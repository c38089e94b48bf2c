#pragma once

#include <chrono>
#include <cstddef>

namespace proxy {

// Figures that are no settings: the node measures what an operator would have to guess, or one
// value is good everywhere. Those that a test has to shorten are structs; a node always has the
// defaults.

inline constexpr std::size_t kHeadLines = 200;  // of one head; browsers send about 30
/// Bytes in flight of a body that is not stored: the most that a reader 20 ms away needs for
/// 100 Mbit/s. Windows shrink as `limits.body_windows` fills.
inline constexpr std::size_t kBodyWindow = 256 << 10;
/// Connections to origins and peers that one worker keeps open without a request. Each costs about
/// 1 KiB, and 256 are more places than a worker asks within `timeouts.origin_idle`.
inline constexpr std::size_t kUpstreamIdle = 256;
/// Those to one origin, for longer than a moment, over all workers: as many as the processes of a
/// small prefork server, which serves one kept connection with each.
inline constexpr std::size_t kUpstreamIdlePerOrigin = 8;

/// The times of peer requests. docs/decisions/peer-requests.md has the measurements (0021, 0022).
struct PeerTimes {
    /// After this time the origin gets the request, too: half of its usual time, or the peer's with
    /// two deviations if longer, within the bounds; `budget` while the origin's is unknown. A busy
    /// peer nearby responds within the least, and nobody notices the largest in a page.
    std::chrono::nanoseconds budget = std::chrono::milliseconds(50);
    std::chrono::nanoseconds budget_least = std::chrono::milliseconds(40);
    std::chrono::nanoseconds budget_most = std::chrono::milliseconds(500);
    /// A peer gets no request if it takes longer than the origin by more than this, and by more
    /// than half of the origin's own time: it spares an origin nearby, which is worth that much.
    std::chrono::nanoseconds detour = std::chrono::milliseconds(10);
    /// A peer that sends hardly a byte of a body for so long loses its turn. A lost packet takes
    /// less.
    std::chrono::nanoseconds stall = std::chrono::seconds(3);
    /// A meeting point (fetch/meeting_plan.hpp) that answers later than this is passed over,
    /// because a node may always fetch for itself.
    std::chrono::nanoseconds meet_at_most = std::chrono::milliseconds(100);
    /// One local miss in this many goes to a peer whose summary says no, beside the origin; 0:
    /// none. It adds 0.1 % of a HEAD to each miss, and a day of misses shows a rate of false ones.
    unsigned misses_per_sample = 1000;
};

/// Spans on their way to the collector. The numbers are the defaults of OpenTelemetry's batch
/// processor, with twice its queue.
struct SpanTimes {
    std::size_t queue = 4096;  // spans that wait for the collector; more are dropped
    std::size_t batch = 512;   // spans of one request to the collector
    std::chrono::nanoseconds delay = std::chrono::seconds(5);     // of a span, for a batch
    std::chrono::nanoseconds timeout = std::chrono::seconds(10);  // of one request to the collector
};

/// A request that an origin leaves open for so long counts as unanswered in the state of the
/// origin. Usual answers take less, and a person who looks for the reason of a hanging page looks
/// by then.
inline constexpr std::chrono::seconds kOriginSilence{10};

/// What tests shorten.
struct Constants {
    PeerTimes peers;
    SpanTimes spans;
    std::chrono::nanoseconds origin_silence = kOriginSilence;
    bool meets = true;  // false: rules[].fetch_once counts as `never`
};

}  // namespace proxy
