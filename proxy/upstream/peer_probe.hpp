#pragma once

#include <algorithm>
#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <cstddef>
#include <optional>
#include <set>
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

/// The probes of one worker that are to come, and their times. A probe of an encrypted peer is a
/// handshake at both nodes, and the probes of a large cluster together cost as much as its links.
/// So the probes of a node go out one by one, the further apart the more peers it has, and only
/// after the links have been made: after a pause without a newcomer. A peer that is asked meanwhile
/// proves its port by that, and its probe then goes over the same connection. One thread.
class ProbeTurns {
public:
    using Clock = std::chrono::steady_clock;
    static constexpr std::chrono::milliseconds kApart{20};    // for each peer
    static constexpr std::chrono::minutes kLongestRound{10};  // of probes of all peers
    static constexpr std::chrono::seconds kLongestWait{30};  // where peers come and go all the time

    /// A newcomer, at a node with so many peers, at least one. Returns the time of its probe; none:
    /// a probe of this node is to come already.
    std::optional<Clock::time_point> take(const std::string& node, Clock::time_point now,
                                          std::size_t peers);
    /// A probe whose time has come waits until then, if newcomers have come since it was taken.
    Clock::time_point put_off(Clock::time_point taken) const {
        return std::min(quiet_from_, taken + kLongestWait);
    }
    /// The probe goes out, or is cancelled.
    void went(const std::string& node) { waiting_.erase(node); }

private:
    Clock::time_point next_{}, quiet_from_{};
    std::set<std::string> waiting_;  // nodes
};

/// Waits until `at`, and longer if `turns` say so. Then finds out whether the server at the http
/// port of the peer `node` is that peer. If not, the peer's record and the log say so; `not_a_peer`
/// needs two probes with that result. No request waits for the result, and no counter shows it.
boost::asio::awaitable<void> probe_peer(Upstream& upstream, std::string node, ProbeTurns& turns,
                                        ProbeTurns::Clock::time_point at);

/// Probes the peers that have come into step by a new link since the last call. One worker calls it
/// for each view; its peer records then have the failures. `turns` outlives the probes.
void probe_newcomers(Upstream& upstream, ProbeTurns& turns);

}  // namespace proxy
