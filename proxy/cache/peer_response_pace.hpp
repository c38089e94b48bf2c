#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "proxy/upstream/body_rate.hpp"
#include "proxy/upstream/round_trip.hpp"

namespace proxy {

// When a peer's body comes so slowly that the origin is the better place for the rest of it.
// Functions of what came: no I/O, no clock.

/// A peer that gives less, in bytes/s over cluster.peer_stall, has stalled, where the rest can come
/// from the origin.
inline constexpr std::uint64_t kPeerRateMin = 500;
/// The origin is asked for the rest when that would be there so many times sooner, and sooner by a
/// window as well: peers are there to spare it, so one that is merely slower keeps its turn.
inline constexpr unsigned kMuchSooner = 4;
/// What an origin is taken to give of whose bodies nothing is known: a first window (RFC 6928) in
/// the time of one answer, but not more than the second figure, in bytes/s.
inline constexpr std::uint64_t kFirstWindowBytes = 14'600, kExpectedRateMax = 1'000'000;
/// The same of whose answers nothing is known either.
inline constexpr std::chrono::seconds kUnknownAnswer{1};
/// So many bytes may come from both: when more come from the peer until the origin's answer is
/// there, the peer is not slow any more.
inline constexpr std::uint64_t kComesTwiceMax = 1024 * 1024;

/// What can be expected of an origin.
struct OriginPace {
    std::chrono::nanoseconds head{0};    // until an answer begins
    std::uint64_t bytes_per_second = 1;  // from there on
};
OriginPace pace_of_origin(const RoundTrip& answers, const BodyRate& bodies);

/// One body of a peer, looked at after each window: a time in which it was what was waited for.
class PeerResponsePace {
public:
    using Duration = std::chrono::nanoseconds;
    enum class Advice {
        goes_on,
        look_elsewhere,  // the origin is to be asked for the rest, while the peer goes on; said
                         // once
        stalled,         // the peer is to be left
    };

    PeerResponsePace(Duration window, const OriginPace& origin)
        : window_(window), origin_(origin) {}

    /// So long it was waited for, and then so many bytes came. `missing`: what is still to come,
    /// where that is known; else it is taken for as much as has come.
    Advice waited(Duration time, std::uint64_t bytes, const std::optional<std::uint64_t>& missing);

private:
    bool is_much_sooner_elsewhere(std::uint64_t missing) const;

    const Duration window_;
    const OriginPace origin_;
    Duration time_{0};         // of this window, so far
    std::uint64_t bytes_ = 0;  // likewise
    std::uint64_t came_ = 0;   // in all
    bool looked_elsewhere_ = false;
};

/// Is the origin's answer for the rest of use, which it gives from `first` on? `received`: what has
/// come of the body by now, from whom it was asked beside.
bool may_take_over(std::uint64_t first, std::uint64_t received);

}  // namespace proxy
