#pragma once

#include <string_view>

namespace proxy {

/// Whether two lower-cased hosts of authorities name the same place, for the choice of an origin
/// entry. IPv6 literals compare as addresses (RFC 4291 §2.2 has many texts for each), and a dot at
/// the end of a name is ignored (RFC 3986 §3.2.2).
///
/// Cache keys compare as bytes instead (RFC 3986 §6.2.1), as in other caches and in origins. A
/// second spelling of a host costs a second copy.
bool same_host(std::string_view a, std::string_view b);

}  // namespace proxy
