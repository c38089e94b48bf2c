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
/// nodes, so when many peers come at once they get their turns one by one.
class ProbeTurns {
public:
    using Clock = std::chrono::steady_clock;
    static constexpr std::chrono::milliseconds kApart{20};

    /// The time for the next probe.
    Clock::time_point take(Clock::time_point now) {
        const auto turn = std::max(now, next_);
        next_ = turn + kApart;
        return turn;
    }

private:
    Clock::time_point next_{};
};

/// Finds out whether the server at the http port of `peer` is that peer. If not, the peer's record
/// and the log say so; `not_a_peer` needs two probes with that result. No request waits for the
/// result, and no counter shows it. Waits until `at` before.
boost::asio::awaitable<void> probe_peer(Upstream& upstream, PeerOfView peer,
                                        ProbeTurns::Clock::time_point at);

/// Probes the peers that have come into step by a new link since the last call. One worker calls it
/// for each view; its peer records then have the failures.
void probe_newcomers(Upstream& upstream, ProbeTurns& turns);

}  // namespace proxy
