#pragma once

#include "proxy/http/cache_key.hpp"

#include <string>
#include <string_view>

namespace proxy {

/// Removes dot segments (RFC 3986 §5.2.4) from a path that begins with a slash. A query stays as it
/// is.
std::string without_dot_segments(std::string_view path_and_query);

/// Resolves a URI reference, as in Location and Content-Location, against the target URI of its
/// request into `out` (RFC 3986 §5.2, without dot segments and fragment). Returns false for other
/// schemes than http and https, and for a reference that is no target of a request.
bool resolve_reference(const CacheKey& base, std::string_view reference, CacheKey& out);

/// Both have the same scheme, host and port.
bool is_same_origin(const CacheKey& a, const CacheKey& b);

/// The same as resolve_reference(), and false for another scheme, host or port than those of
/// `base`: an origin may invalidate only its own responses (RFC 9111 §4.4).
bool resolve_same_origin(const CacheKey& base, std::string_view reference, CacheKey& out);

}  // namespace proxy
