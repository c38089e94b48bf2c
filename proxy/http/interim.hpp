#pragma once

#include <string>
#include <string_view>

#include "proxy/http/message_parser.hpp"

namespace proxy {

/// Appends an interim head for the client (RFC 9110 §15.2), with the empty line: without hop-by-hop
/// fields and framing, with our Via. Only for clients of HTTP/1.1.
void append_interim(std::string& out, const Head& interim, std::string_view node);

/// The same for a 101 to a client that has requested it, with its Upgrade.
void append_switching(std::string& out, const Head& switching, std::string_view node);

}  // namespace proxy
