#pragma once

#include <boost/asio/ip/address.hpp>

namespace protocol {

/// An address without its scope, an IPv4 one that came inside IPv6 (`::ffff:10.0.0.7`, as a socket
/// for both shows it) taken out: equal when they are the same place.
inline boost::asio::ip::address plain_address(const boost::asio::ip::address& address) {
    namespace ip = boost::asio::ip;
    if (address.is_v4()) return address;
    const auto v6 = address.to_v6();
    if (v6.is_v4_mapped()) return ip::make_address_v4(ip::v4_mapped, v6);
    return v6.scope_id() == 0 ? address : ip::address_v6(v6.to_bytes());
}

}  // namespace protocol
