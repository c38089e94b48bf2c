#pragma once

#include <boost/asio/ip/address.hpp>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "protocol/membership/peer_config.hpp"
#include "proxy/config/config.hpp"

namespace proxy {

/// May a place be connected to because a client said so (a forward request, a tunnel)? Origin
/// entries and peers are the operator's word and not asked about here.
enum class Destination : std::uint8_t {
    open,
    closed,     // a private or special address, and forward.private_destinations does not list it
    own_house,  // a listener of this node or of a peer: never, whatever is allowed
};

/// A globally reachable unicast address by IANA's special-purpose registries (RFC 6890); what
/// translates to or tunnels to an IPv4 address is what that address is.
bool is_public(const boost::asio::ip::address& address);

/// Where peers are, as discovery and their links have it (PeerView::places).
using PeerPlaces = std::span<const protocol::PeerPlace>;

/// Is it worth knowing the surroundings before the port is connected to? Only at the ports of this
/// node's and its peers' listeners.
bool is_house_port(const Config& config, PeerPlaces found, std::uint16_t port);

/// What is looked up outside, for a port of which is_house_port() holds.
struct Surroundings {
    std::vector<boost::asio::ip::address> own;    // of this machine's interfaces
    std::vector<boost::asio::ip::address> peers;  // where peer_names() lead
    PeerPlaces found = {};
};
std::vector<boost::asio::ip::address> interface_addresses();

/// The peers' hosts that are names: to be resolved into Surroundings::peers.
std::vector<std::string_view> peer_names(const Config& config, PeerPlaces found);

/// The last word, on the address that would be connected to. Everything of the house is closed
/// also behind IPv4 addresses inside IPv6 ones, the unspecified address (which leads to loopback),
/// and at peers' addresses on the ports that this node uses itself: its admin port may be theirs.
/// Peers are those that are listed and those that were found, be it by SRV records.
Destination judge_destination(const Config& config, const Surroundings& around,
                              const boost::asio::ip::address& address, std::uint16_t port);

}  // namespace proxy
