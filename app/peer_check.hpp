#pragma once

#include <boost/system/error_code.hpp>
#include <optional>
#include <string>

#include "measure/run/http_get.hpp"
#include "proxy/config/loaded_config.hpp"

namespace app {

/// Returns the probable cause of the error on a peer's link, as the end of a sentence, or an empty
/// string if the error is clear. `http_is_silent`: the peer's http port accepts connections but
/// stays silent.
std::string likely_cause(const boost::system::error_code& error, bool http_is_silent = false);

/// Returns true if this machine would reach itself at `at`, where a node listens at `listen`.
bool is_own_place(const base::HostPort& listen, const base::HostPort& at);

/// Checks an answer of a peer's http port. Returns an empty string if the peer gave it, otherwise
/// the fault. `peer`: its name, or empty for any peer.
std::string http_fault(const boost::system::result<measure::HttpAnswer>& answer,
                       const std::string& peer);

/// How far the clock of the node that gave `answer`, in seconds, is ahead of this machine's, which
/// said `asked` and `answered` (since 1970) around the request. Empty if they agree within
/// kClocksApart and the time of the way, or if the answer has no Date.
std::optional<double> clock_ahead(const measure::HttpAnswer& answer, double asked, double answered);

/// `hearsay check --peers`: tries each peer that the configuration lists or finds by name. It dials
/// the link with the cluster key, and asks the http port for a target that needs no origin. If an
/// http port closes the connection, a second request has a PROXY header; real peers prove
/// themselves by the token of a link instead, which only a running node has. Prints a line for each
/// port. Returns kOk, or kFailed if a port fails or no peer was found. The peers only log a line
/// and count a request.
int check_peers(const proxy::LoadedConfig& config);

}  // namespace app
