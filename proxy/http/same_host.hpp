#pragma once

#include <string>
#include <string_view>

namespace proxy {

/// The one spelling of all hosts that are the same by same_host(): without a final dot, and an IPv6
/// address in its canonical form. `scratch` may hold the result.
std::string_view canonical_host(std::string_view host, std::string& scratch);

/// Whether two lower-cased hosts of authorities name the same place, for the choice of an origin
/// entry. IPv6 literals compare as addresses (RFC 4291 §2.2 has many texts for each), and a dot at
/// the end of a name is ignored (RFC 3986 §3.2.2).
///
/// Cache keys compare as bytes instead (RFC 3986 §6.2.1), as in other caches and in origins. A
/// second spelling of a host costs a second copy.
bool same_host(std::string_view a, std::string_view b);

}  // namespace proxy
