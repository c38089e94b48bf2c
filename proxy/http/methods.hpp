#pragma once

#include <string_view>

namespace proxy {

// Properties of request methods. Names compare byte by byte (RFC 9110 §9.1).

/// Whether the IANA registry calls the method safe (RFC 9110 §9.2.1). The success of a safe method
/// invalidates no stored response. An unregistered method counts as unsafe.
bool is_safe_method(std::string_view method);

/// Whether a request may be sent again after a first one that may have been executed (RFC 9110
/// §9.2.2). True for the safe methods, PUT and DELETE. False for other idempotent methods of the
/// registry (MKCOL, MOVE), because their second answer differs.
bool is_repeatable_method(std::string_view method);

}  // namespace proxy
