#pragma once

#include <boost/asio/ip/address.hpp>
#include <cstddef>
#include <optional>
#include <string_view>

namespace proxy {

/// The PROXY protocol, version 2: what a proxy that passes bytes on says of its client before them.
/// Source: HAProxy's proxy-protocol.txt §2.2.
inline constexpr std::size_t kProxyHeaderStart = 16;          // bytes that say how many follow
inline constexpr std::size_t kMaxProxyHeaderRest = 4 * 1024;  // addresses, and what proxies add

/// Do these bytes, kProxyHeaderStart of them, claim to be such a header?
bool begins_as_proxy_header(std::string_view start);

/// How many bytes follow the first kProxyHeaderStart; nothing when these are not the start of such
/// a header, or it is larger than kMaxProxyHeaderRest.
std::optional<std::size_t> proxy_header_rest(std::string_view start);

/// A good header.
struct ProxyHeader {
    /// Nothing: the connection is the proxy's own (LOCAL), or of a kind without an IP address.
    std::optional<boost::asio::ip::address> client;
};
/// `header`: start and rest. Nothing when it is malformed, or not of a TCP connection.
std::optional<ProxyHeader> parse_proxy_header(std::string_view header);

}  // namespace proxy
