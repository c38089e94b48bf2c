#pragma once

#include <string_view>

namespace proxy {

/// What a request method promises. Names of methods are compared byte by byte (RFC 9110 §9.1).

/// The IANA registry calls the method safe (RFC 9110 §9.2.1): it asks for no change, so its
/// success invalidates nothing. A method that nobody has registered is not safe.
bool is_safe_method(std::string_view method);

/// A request may be sent again though the first one may have been executed (RFC 9110 §9.2.2):
/// the safe methods, PUT and DELETE. Other methods that the registry calls idempotent (MKCOL, MOVE)
/// answer differently the second time, so this node repeats none of them.
bool is_repeatable_method(std::string_view method);

}  // namespace proxy
