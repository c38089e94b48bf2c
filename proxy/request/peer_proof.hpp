#pragma once

#include <cstddef>
#include <optional>

#include "proxy/fetch/peer_response_plan.hpp"
#include "proxy/request/transaction.hpp"

namespace proxy {

/// A peer that has proven itself in a request, and the options of the request.
struct ProvenPeer {
    std::size_t index = 0;  // in Upstream::peers
    PeerRequestOptions options{};
};

/// Returns the peer that the token in the request belongs to; none if the request is no peer's.
/// The proof counts at `listen`, on an encrypted connection, and in the clear if the settings of
/// now allow that.
std::optional<ProvenPeer> proven_peer(const Transaction& transaction);

}  // namespace proxy
