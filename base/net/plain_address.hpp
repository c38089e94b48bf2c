#pragma once

#include <boost/asio/ip/address.hpp>
#include <charconv>
#include <string>

namespace base {

/// The address without its scope, and an IPv4 address out of its IPv6 form (`::ffff:10.0.0.7`, as a
/// dual-stack socket shows it). Two results are equal when they are the same place.
inline boost::asio::ip::address plain_address(const boost::asio::ip::address& address) {
    namespace ip = boost::asio::ip;
    if (address.is_v4()) return address;
    const auto v6 = address.to_v6();
    if (v6.is_v4_mapped()) return ip::make_address_v4(ip::v4_mapped, v6);
    return v6.scope_id() == 0 ? address : ip::address_v6(v6.to_bytes());
}

/// The text that address.to_string() gives, for callers on the way of each connection: the C
/// library formats an IPv4 address by printf, at 1,500 instructions.
inline std::string text_of(const boost::asio::ip::address& address) {
    if (!address.is_v4()) return address.to_string();
    char text[16];
    auto* end = text;
    for (const auto byte : address.to_v4().to_bytes()) {
        if (end != text) *end++ = '.';
        end = std::to_chars(end, text + sizeof text, byte).ptr;
    }
    return {text, end};
}

}  // namespace base
