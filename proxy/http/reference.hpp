#pragma once

#include "proxy/http/cache_key.hpp"

#include <string_view>

namespace proxy {

/// Resolves a URI reference, as in Location and Content-Location, against the target URI of its
/// request (RFC 3986 §5.2, dot segments removed, the fragment dropped) into `out`. False when it is
/// no reference to an http or https URI, or one of another origin: scheme, host and port must be
/// those of `base`, as nobody speaks for another origin's responses (RFC 9111 §4.4).
bool resolve_same_origin(const CacheKey& base, std::string_view reference, CacheKey& out);

}  // namespace proxy
