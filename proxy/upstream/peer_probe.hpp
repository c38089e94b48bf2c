#pragma once

#include <algorithm>
#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <string>
#include <string_view>

#include "proxy/upstream/peer_of_view.hpp"
#include "proxy/upstream/upstream.hpp"

namespace proxy {

/// A peer that takes longer to respond to a probe has no usable port.
inline constexpr std::chrono::seconds kProbePatience{5};
/// A port that answers like another server gets a second probe after this time.
inline constexpr std::chrono::seconds kProbeAgainAfter{1};

/// A target that no node has (RFC 6761 §6.4).
inline constexpr std::string_view kProbeTarget = "http://probe.hearsay.invalid/";
/// The request for it by HEAD. A peer responds `absent`, and no other server does.
std::string probe_text(std::string_view node, std::string_view token);

/// The times of the probes of one worker. A probe of an encrypted peer is a handshake at both
/// nodes, so when many peers come at once they get their turns one by one, and only after the links
/// have been made: after a pause without a newcomer, which is longer the more peers there are.
class ProbeTurns {
public:
    using Clock = std::chrono::steady_clock;
    static constexpr std::chrono::milliseconds kApart{20};
    static constexpr std::chrono::seconds kLongestWait{30};  // where peers come and go all the time

    /// The time for the next probe, by a node with so many peers.
    Clock::time_point take(Clock::time_point now, std::size_t peers) {
        quiet_from_ = now + kApart * (static_cast<int>(peers) - 1);
        const auto turn = std::max(now, next_);
        next_ = turn + kApart;
        return std::max(turn, quiet_from_);
    }
    /// A probe with its turn waits until then, if newcomers have come since it took the turn.
    Clock::time_point put_off(Clock::time_point taken) const {
        return std::min(quiet_from_, taken + kLongestWait);
    }

private:
    Clock::time_point next_{}, quiet_from_{};
};

/// Finds out whether the server at the http port of `peer` is that peer. If not, the peer's record
/// and the log say so; `not_a_peer` needs two probes with that result. No request waits for the
/// result, and no counter shows it. Waits until `at` before, and longer if `turns` say so.
boost::asio::awaitable<void> probe_peer(Upstream& upstream, PeerOfView peer,
                                        const ProbeTurns& turns, ProbeTurns::Clock::time_point at);

/// Probes the peers that have come into step by a new link since the last call. One worker calls it
/// for each view; its peer records then have the failures. `turns` outlives the probes.
void probe_newcomers(Upstream& upstream, ProbeTurns& turns);

}  // namespace proxy
