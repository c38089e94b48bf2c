#pragma once

#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <string>

#include "protocol/membership/cluster_config.hpp"
#include "protocol/net/dialer.hpp"
#include "protocol/net/error.hpp"
#include "protocol/net/host_port.hpp"
#include "protocol/net/resolver.hpp"

namespace protocol {

/// Dials the link port at `place` as the node of `config` would, up to the point where the node
/// there has proved who it is and that it holds a key of ours; then hangs up. Gives its name. What
/// is to be proved by us is not sent, so a link that a running node of our name has there stays.
/// `peer`: whom we mean; empty: whoever is there. Precondition: config.keys is not empty.
/// Errors: those of connecting, hello_timeout, wrong_node, wrong_key, bad_proof, own_id, and what
/// the node there refuses us with. Control thread of `resolver` and `dialer`, which must outlive
/// it.
boost::asio::awaitable<Result<std::string>> probe(const ClusterConfig& config, HostPort place,
                                                  std::string peer, Resolver& resolver,
                                                  Dialer& dialer, std::chrono::nanoseconds limit);

}  // namespace protocol
