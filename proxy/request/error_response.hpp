#pragma once

#include <string>
#include <string_view>

#include "proxy/http/fetch_error.hpp"
#include "proxy/http/message_parser.hpp"
#include "proxy/telemetry/counters.hpp"
#include "proxy/upstream/site.hpp"

namespace proxy {

// Status and text of a response to a request that fails. The text names the cause and the setting
// to look at. fetch_error.hpp has the same for a fetch that failed.

unsigned status_of(ParseError error);
RequestRefusal refusal_of(ParseError error);

unsigned status_of(SiteRefusal reason);
std::string explain(SiteRefusal reason, std::string_view host);

/// The text of a 403 to a client that may not ask, or may not use the forward proxy. `client`:
/// Requester::described().
std::string explain_refused_client(RequestRefusal reason, const std::string& client);

}  // namespace proxy
