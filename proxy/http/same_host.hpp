#pragma once

#include <string_view>

namespace proxy {

/// Do these hosts of authorities, both lower-cased, name the same place? For rules: which origin
/// entry is meant. IPv6 literals are compared as addresses (RFC 4291 §2.2 has many texts for each),
/// and a name that ends in a dot is that name, said to be absolute (RFC 3986 §3.2.2).
///
/// Cache keys are compared as bytes instead (RFC 3986 §6.2.1), as other caches and origins do: two
/// spellings of one host cost a second copy at worst.
bool same_host(std::string_view a, std::string_view b);

}  // namespace proxy
