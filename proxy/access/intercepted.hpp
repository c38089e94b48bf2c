#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "proxy/config/config.hpp"

namespace proxy {

/// The name for which the node answers a CONNECT to this host and port itself, by
/// `forward.intercept`: the normal form of the host (blocklists/normal_url.hpp), as a certificate
/// has it. Nothing for a CONNECT that is tunnelled: another host or port, an address, or a text
/// that is no name of a host. A plain function; any thread.
std::optional<std::string> intercepted_name(const ForwardConfig& forward, std::string_view host,
                                            std::uint16_t port);

/// The pattern of `forward.intercept.hosts` that matches a host, as written; null without one.
const DestinationPattern* intercepting_pattern(const ForwardConfig& forward, std::string_view host,
                                               std::uint16_t port);

}  // namespace proxy
