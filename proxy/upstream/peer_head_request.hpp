#pragma once

#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "proxy/http/message_parser.hpp"
#include "proxy/upstream/peer_of_view.hpp"
#include "proxy/upstream/upstream.hpp"

namespace proxy {

// What a peer would answer to a question, without the answer: a question by HEAD, which is in
// nobody's books.

enum class PeerHas : std::uint8_t {
    it,  // it would give it
    absent,
    variant,  // others than for this request
    stale,
    busy,  // it is being fetched, and cannot be given yet
    draining,
    unknown,  // no answer, or none to make sense of
};
std::string_view to_string(PeerHas has);

/// What the head of its answer says.
PeerHas what_peer_has(const Head& answer);

/// Sends `text`, of a PeerRequestHead with the method HEAD, to the peer. Returns `unknown` without
/// a response within `patience`.
boost::asio::awaitable<PeerHas> send_peer_head_request(Upstream& upstream, PeerOfView peer,
                                                       std::string text,
                                                       std::chrono::nanoseconds patience);

}  // namespace proxy
