#pragma once

#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "protocol/membership/peer_view.hpp"
#include "proxy/http/message_parser.hpp"
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

/// Sends `request`, a PeerRequestHead's text with the method HEAD, to the peer at `index` of
/// `view`. No answer within `patience`: unknown.
boost::asio::awaitable<PeerHas> send_peer_head_request(
    Upstream& upstream, std::shared_ptr<const protocol::PeerView> view, std::size_t index,
    std::string request, std::chrono::nanoseconds patience);

}  // namespace proxy
