#pragma once

#include <string_view>

namespace proxy {

/// An address (`10.0.0.7`, `::1`) or a prefix (`10.0.0.0/8`, `fe80::/10`)?
bool is_address_range(std::string_view text);

/// Is `address` in it? An IPv4 address may come as an IPv6 socket shows it (`::ffff:10.0.0.7`).
/// False when either does not parse.
bool in_address_range(std::string_view address, std::string_view range);

}  // namespace proxy
