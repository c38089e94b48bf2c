#pragma once

#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <string>

#include "base/async/error.hpp"
#include "base/net/dialer.hpp"
#include "base/net/host_port.hpp"
#include "base/net/resolver.hpp"
#include "protocol/membership/peering_config.hpp"
#include "protocol/wire/error.hpp"

namespace protocol {

/// Dials the link port at `place` as the node of `config` would, until the node there has proved
/// its name and its possession of a shared key; then hangs up. Returns that name. The check sends
/// no proof of its own, so an existing link of a node with this name stays. `peer`: the expected
/// node; empty: any. Precondition: config.security.keys is not empty. Errors: those of connecting,
/// hello_timeout, wrong_node, wrong_key, bad_proof, own_id, and the reasons of a refusal. Control
/// thread of `resolver` and `dialer`, which must outlive the call.
boost::asio::awaitable<base::Result<std::string>> check_link(const PeeringConfig& config,
                                                             base::HostPort place, std::string peer,
                                                             base::Resolver& resolver,
                                                             base::Dialer& dialer,
                                                             std::chrono::nanoseconds limit);

}  // namespace protocol
