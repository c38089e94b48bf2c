#pragma once

#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "proxy/http/described_enum.hpp"
#include "proxy/http/message_parser.hpp"
#include "proxy/upstream/peer_of_view.hpp"
#include "proxy/upstream/upstream.hpp"

namespace proxy {

// A peer request by HEAD finds out what the peer would respond to a GET. No counters of peer
// requests include it.

BOOST_DEFINE_FIXED_ENUM_CLASS(PeerHeadResult, std::uint8_t,
                              has,  // it would give the object
                              absent,
                              variant,  // it has variants for other requests
                              stale,
                              busy,  // it is fetching the object, and has no head yet
                              draining,
                              unknown  // no response, or a senseless one
)

/// The meaning of the peer's response.
PeerHeadResult what_peer_has(const Head& answer);

/// Sends `text`, of a PeerRequestHead with the method HEAD, to the peer. Returns `unknown` without
/// a response within `patience`.
boost::asio::awaitable<PeerHeadResult> send_peer_head_request(Upstream& upstream, PeerOfView peer,
                                                              std::string text,
                                                              std::chrono::nanoseconds patience);

}  // namespace proxy
