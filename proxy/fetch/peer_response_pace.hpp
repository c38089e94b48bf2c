#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "proxy/upstream/body_rate.hpp"
#include "proxy/upstream/round_trip.hpp"

namespace proxy {

// The pace at which the origin is the better place for the rest of a peer's body. Functions of the
// received bytes: no I/O, no clock.

/// In bytes/s over PeerTimes::stall. A slower peer has stalled, if the rest can come from the
/// origin.
inline constexpr std::uint64_t kPeerRateMin = 500;
/// The origin gets a request for the rest if it would be there this many times sooner, and sooner
/// by a window as well. Peers spare the origin, so a merely slower one keeps its turn.
inline constexpr unsigned kMuchSooner = 4;
/// The expected rate of an origin whose bodies are unknown, in bytes/s: a first window (RFC 6928)
/// in the time of one response, up to the second figure. For a block it is the second figure, as a
/// request for one costs little, and the whole stream would wait for a peer that is too slow.
inline constexpr std::uint64_t kFirstWindowBytes = 14'600, kExpectedRateMax = 1'000'000;
/// The expected time of an origin whose responses are unknown, too.
inline constexpr std::chrono::seconds kUnknownResponse{1};
/// Bytes that may come from both. If the peer sends more until the origin responds, it is no longer
/// slow.
inline constexpr std::uint64_t kComesTwiceMax = 1024 * 1024;

/// The expected pace of an origin.
struct OriginPace {
    std::chrono::nanoseconds head{0};    // until a response begins
    std::uint64_t bytes_per_second = 1;  // from there on
};
enum class WantedBody : std::uint8_t { whole, block };
OriginPace pace_of_origin(const RoundTrip& answers, const BodyRate& bodies, WantedBody wanted);

/// The stream of a reader that wants several bodies one behind the other, as the blocks of one.
/// Several come at a time, and a peer gives its `cluster.bandwidth` to them by turns, so the pace
/// of the whole stream counts.
struct StreamOfBodies {
    std::uint64_t bytes_behind = 0;  // the one in question
    /// The bytes that have come from peers for the whole stream; each body adds its own. Null: the
    /// body stands alone.
    std::shared_ptr<std::uint64_t> from_peers = nullptr;
};

/// The pace of one peer's body, judged after each window. Only time in which the fetch waited for
/// the peer counts.
class PeerResponsePace {
public:
    using Duration = std::chrono::nanoseconds;
    enum class Advice {
        goes_on,
        look_elsewhere,  // the origin is to get a request for the rest, while the peer goes on;
                         // said once
        stalled,         // the peer is to be left
    };

    /// `origin` tells the pace that is known at the end of a window. Other requests may have
    /// measured it meanwhile.
    PeerResponsePace(Duration window, std::function<OriginPace()> origin,
                     StreamOfBodies stream = {});

    /// The fetch waited this long, and then got this many bytes. `missing`: the bytes still to
    /// come; unknown: as many as have come.
    Advice waited(Duration time, std::uint64_t bytes, const std::optional<std::uint64_t>& missing);

private:
    std::uint64_t from_peers() const { return stream_.from_peers ? *stream_.from_peers : came_; }
    bool is_much_sooner_elsewhere(std::uint64_t missing) const;

    const Duration window_;
    const std::function<OriginPace()> origin_;
    const StreamOfBodies stream_;
    Duration time_{0};         // of this window, so far
    std::uint64_t bytes_ = 0;  // of this window, so far
    std::uint64_t came_ = 0;   // in all
    std::uint64_t at_begin_;   // from_peers() when this window began
    bool looked_elsewhere_ = false;
};

/// True if the origin's response for the rest, which begins at `first`, is still useful.
/// `received`: the bytes that have come meanwhile.
bool may_take_over(std::uint64_t first, std::uint64_t received);

}  // namespace proxy
