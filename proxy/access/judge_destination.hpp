#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "proxy/config/config.hpp"

namespace proxy {

/// Why `forward.destinations` refuses a host and port, for example `deny: *.example`; empty if it
/// does not. `host` is that of an authority, in any spelling: its normal form is compared
/// (blocklists/normal_url.hpp), so no spelling evades a pattern. A pattern of `deny` wins, also by
/// an IPv4 address inside an IPv6 one. An empty `allow` stands for all. A plain function; any
/// thread.
std::string why_not_destination(const DestinationRules& rules, std::string_view host,
                                std::uint16_t port);

}  // namespace proxy
