#pragma once

#include <boost/system/error_code.hpp>
#include <string>

#include "measure/run/http_get.hpp"
#include "proxy/config/config.hpp"

namespace app {

/// What is probably wrong when a peer's link ends so, as the end of a sentence; empty when the
/// error says it all. `http_is_silent`: the peer's http port takes connections and answers none.
std::string likely_cause(const boost::system::error_code& error, bool http_is_silent = false);

/// Whether this machine would reach itself at `at`, where a node listens at `listen`.
bool is_own_place(const protocol::HostPort& listen, const protocol::HostPort& at);

/// Whether this answer of a peer's http port is the peer's own; empty when it is, else what is
/// wrong. `peer`: its name; empty when anybody will do.
std::string http_fault(const boost::system::result<measure::HttpAnswer>& answer,
                       const std::string& peer);

/// Dials the link of each peer that the configuration lists, or finds by name, with the cluster
/// key, and asks its http port for something that needs no origin. An http port that closes the
/// connection is asked once more, with a PROXY header: peers need none, as they prove themselves by
/// the token of a link, which only a running node has. Prints a line for each port.
/// kOk; kFailed when one does not do, or none could be tried. Nothing changes at the peers, but for
/// a line in their logs and a request in their counters.
int check_peers(const proxy::Config& config);

}  // namespace app
