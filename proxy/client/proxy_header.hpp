#pragma once

#include <boost/asio/ip/address.hpp>
#include <cstddef>
#include <optional>
#include <string_view>

namespace proxy {

/// The PROXY protocol, version 2: a proxy that passes bytes on states its client in front of them.
/// Source: HAProxy's proxy-protocol.txt §2.2.
inline constexpr std::size_t kProxyHeaderStart = 16;  // bytes that have the length of the rest
inline constexpr std::size_t kMaxProxyHeaderRest = 4 * 1024;  // addresses, and additions of proxies

/// Do these bytes, kProxyHeaderStart of them, claim to be such a header?
bool begins_as_proxy_header(std::string_view start);

/// The number of bytes behind the first kProxyHeaderStart. Empty when these do not start a header,
/// or the header is larger than kMaxProxyHeaderRest.
std::optional<std::size_t> proxy_header_rest(std::string_view start);

/// A good header.
struct ProxyHeader {
    /// Empty: the connection is the proxy's own (LOCAL), or of a kind without an IP address.
    std::optional<boost::asio::ip::address> client;
};
/// `header`: start and rest. Empty when it is malformed, or is not of a TCP connection.
std::optional<ProxyHeader> parse_proxy_header(std::string_view header);

}  // namespace proxy
