#pragma once

#include <string>
#include <string_view>

#include "proxy/http/fetch_error.hpp"
#include "proxy/http/message_parser.hpp"
#include "proxy/telemetry/counters.hpp"
#include "proxy/upstream/site.hpp"

namespace proxy {

/// What a client is told when its request fails: the status, and a sentence that says what happened
/// and where to look (of a fetch that failed: fetch_error.hpp).
unsigned status_of(ParseError error);
RequestRefusal refusal_of(ParseError error);

unsigned status_of(NoSite reason);
std::string explain(NoSite reason, std::string_view host);

}  // namespace proxy
