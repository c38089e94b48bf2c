#pragma once

#include <string>
#include <string_view>

#include "proxy/admin/node_status.hpp"
#include "proxy/forwarding/route.hpp"
#include "proxy/http/message_parser.hpp"
#include "proxy/storage/fill.hpp"

namespace proxy {

/// What a client is told when a request or its fetch fails: the status, and a sentence that says
/// what happened and where to look.
unsigned status_of(FetchError error);
/// `what` is malformed, if the error is that and it is known.
std::string explain(FetchError error, std::string_view host, ParseError what = ParseError::ok);

unsigned status_of(ParseError error);
RequestRefusal refusal_of(ParseError error);

unsigned status_of(NoRoute reason);
std::string explain(NoRoute reason, std::string_view host);

}  // namespace proxy
