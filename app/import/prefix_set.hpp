#pragma once

#include <boost/asio/ip/network_v4.hpp>
#include <boost/asio/ip/network_v6.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace app {

/// Networks of IPv4 or IPv6 addresses.
using Network = std::variant<boost::asio::ip::network_v4, boost::asio::ip::network_v6>;
using Networks = std::vector<Network>;

/// The networks of an address, a prefix, a prefix with a mask (10.0.0.0/255.0.0.0), or a range of
/// IPv4 addresses (10.0.0.1-10.0.0.9). Nothing for another text, such as a host name.
std::optional<Networks> parse_networks(std::string_view text);

std::string text_of(const Network& network);
bool covers(const Network& outer, const Network& inner);
/// The addresses that both have. Sorted as in `a` and `b`, without repetition.
Networks intersection(const Networks& a, const Networks& b);
bool covers_all(const Networks& outer, const Networks& inner);
/// Every address of IPv4 and IPv6.
Networks all_networks();
/// True if `network` is of addresses that forward.private_destinations refuses by default:
/// loopback, private, link-local and "this network".
bool is_private(const Network& network);

}  // namespace app
