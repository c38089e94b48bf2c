#pragma once

#include <string>
#include <string_view>

#include "proxy/http/message_parser.hpp"

namespace proxy {

/// Appends an interim head as it is passed on (RFC 9110 §15.2), empty line included: without
/// hop-by-hop fields and framing, with our Via. Not for clients of HTTP/1.0, which do not know
/// interim answers.
void append_interim(std::string& out, const Head& interim, std::string_view node);

/// The same for a 101 that was asked for, with its Upgrade.
void append_switching(std::string& out, const Head& switching, std::string_view node);

}  // namespace proxy
