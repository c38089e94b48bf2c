#pragma once

#include <boost/asio/awaitable.hpp>

#include "proxy/request/peer_proof.hpp"
#include "proxy/request/transaction.hpp"

namespace proxy {

/// Responds to a GET or HEAD of a peer: from the store, or from a fill that the origin feeds and
/// whose head is there; else with a 504 that has the reason, at once. A peer that follows a fetch
/// waits for the head (meeting_plan.hpp). The node asks nobody on the peer's behalf. Of a body in
/// blocks the peer gets the head alone, then each block by a request of its own. By HEAD it asks
/// whether it would be given anything, which stands in no statistics.
boost::asio::awaitable<void> respond_to_peer(Transaction& transaction, ProvenPeer peer);

}  // namespace proxy
