#pragma once

#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <string>
#include <string_view>

#include "proxy/upstream/peer_of_view.hpp"
#include "proxy/upstream/upstream.hpp"

namespace proxy {

/// A peer that takes longer to answer a probe has no port that is of use.
inline constexpr std::chrono::seconds kProbePatience{5};

/// What no node has (RFC 6761 §6.4).
inline constexpr std::string_view kProbeTarget = "http://probe.hearsay.invalid/";
/// The question for it by HEAD: a peer answers `absent`, and nobody else does.
std::string probe_text(std::string_view node, std::string_view token);

/// Does what listens at the http port of `peer` answer as that peer? If not,
/// its record says so, and the log. Nobody waits for the answer, and nobody books it.
boost::asio::awaitable<void> probe_peer(Upstream& upstream, PeerOfView peer);

/// Probes whoever has come into step by a new link since it was called last. To be called for each
/// view, by one worker: its record of a peer has the failure then.
void probe_newcomers(Upstream& upstream);

}  // namespace proxy
