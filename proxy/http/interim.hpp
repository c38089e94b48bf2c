#pragma once

#include <string>
#include <string_view>

#include "proxy/http/message_parser.hpp"

namespace proxy {

/// An interim response (RFC 9110 §15.2) in the form in which a node passes it on.
struct InterimResponse {
    unsigned status = 100;
    std::string fields;  // a FieldBlock
};

/// The interim response that `received` becomes: without hop-by-hop fields and framing, with our
/// Via.
InterimResponse interim_response(const Head& received, std::string_view node);

/// The same of a requested 101, with its Upgrade.
InterimResponse switching_response(const Head& received, std::string_view node);

}  // namespace proxy
