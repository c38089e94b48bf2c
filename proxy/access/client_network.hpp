#pragma once

#include <algorithm>
#include <array>
#include <boost/asio/ip/address.hpp>
#include <cstddef>
#include <string>

namespace proxy {

/// The client that limits are for, by its address: an IPv4 address, or the /64 of an IPv6 address,
/// because the owner of one of its addresses has all of them.
using ClientNetwork = std::array<unsigned char, 16>;

/// `address` as base::plain_address() has it.
inline ClientNetwork client_network(const boost::asio::ip::address& address) {
    constexpr std::size_t kNetworkBytes = 8;
    ClientNetwork network{};
    if (address.is_v4()) {
        const auto bytes = address.to_v4().to_bytes();
        std::copy(bytes.begin(), bytes.end(), network.begin() + kNetworkBytes);
        network.back() = 4;  // no /64 looks so
    } else {
        const auto bytes = address.to_v6().to_bytes();
        std::copy_n(bytes.begin(), kNetworkBytes, network.begin());
    }
    return network;
}

/// The same as bytes of a key.
inline std::string key_of(const ClientNetwork& network) {
    return {network.begin(), network.end()};
}

}  // namespace proxy
