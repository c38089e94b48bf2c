#pragma once

#include <boost/asio/ip/address.hpp>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace proxy {

/// The PROXY protocol: a proxy that passes bytes on states its client in front of them. Version 1
/// is a line of text, version 2 is binary. Source: HAProxy's proxy-protocol.txt §2.1 and §2.2.
inline constexpr std::size_t kProxySignature = 12;    // bytes that tell the version
inline constexpr std::size_t kMaxProxyLine = 107;     // of version 1, with CRLF
inline constexpr std::size_t kProxyHeaderStart = 16;  // bytes that have the length of the rest
inline constexpr std::size_t kMaxProxyHeaderRest = 4 * 1024;  // addresses, and additions of proxies

enum class ProxyHeaderVersion : std::uint8_t { none, one, two };
/// The header that these bytes, kProxySignature of them, begin.
ProxyHeaderVersion proxy_header_version(std::string_view start);

/// The number of bytes behind the first kProxyHeaderStart. Empty when these do not start a header,
/// or the header is larger than kMaxProxyHeaderRest.
std::optional<std::size_t> proxy_header_rest(std::string_view start);

/// A good header.
struct ProxyHeader {
    /// Empty: the connection is the proxy's own (LOCAL), or of a kind without an IP address
    /// (UNKNOWN).
    std::optional<boost::asio::ip::address> client;
};
/// `header`: the line of version 1 with its CRLF, or start and rest of version 2. Empty when it is
/// malformed, or is not of a TCP connection.
std::optional<ProxyHeader> parse_proxy_header(std::string_view header);

}  // namespace proxy
