#pragma once

#include <boost/asio/ip/address.hpp>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "protocol/membership/peer_config.hpp"
#include "proxy/config/config.hpp"

namespace proxy {

/// The verdict on an address that a client named, in a forward request or for a tunnel. The
/// operator named origin entries and peers, so they need no verdict.
enum class Destination : std::uint8_t {
    open,
    closed,     // a private or special address that forward.private_destinations does not list
    own_house,  // a listener of this node or of a peer: always closed
};

/// True for a globally reachable unicast address by IANA's special-purpose registries (RFC 6890).
/// An address that translates to, or tunnels to, an IPv4 address counts as that address.
bool is_public(const boost::asio::ip::address& address);

/// The places of peers, as discovery and their links report them (PeerView::places).
using PeerPlaces = std::span<const protocol::PeerPlace>;

/// True for a port of this node's or its peers' listeners. Only then does judge_destination() need
/// the ClusterAddresses.
bool is_cluster_port(const Config& config, PeerPlaces found, std::uint16_t port);

/// The addresses that the pool looks up for a port of is_cluster_port().
struct ClusterAddresses {
    std::vector<boost::asio::ip::address> own;    // of this machine's interfaces
    std::vector<boost::asio::ip::address> peers;  // of peer_names()
    PeerPlaces found = {};
};
std::vector<boost::asio::ip::address> interface_addresses();

/// The host names of peers, to be resolved into ClusterAddresses::peers.
std::vector<std::string_view> peer_names(const Config& config, PeerPlaces found);

/// Judges the very address that would be connected to. Listeners of this node and of its peers are
/// closed, also behind IPv4 addresses inside IPv6 ones (base/net/embedded_v4.hpp) and behind
/// the unspecified address, which leads to loopback. At peers' addresses the ports that this node
/// uses itself are closed, because a peer's admin port may be the same. Peers are those of the
/// configuration and those of discovery, SRV records included.
Destination judge_destination(const Config& config, const ClusterAddresses& around,
                              const boost::asio::ip::address& address, std::uint16_t port);

/// Judges a target that a parent proxy is to resolve, by its text alone. An address is judged as
/// above. A name is of the house if a listener or a peer has it at this port; `localhost` and names
/// below it count as the loopback address. The parent judges every other name.
Destination judge_unresolved(const Config& config, PeerPlaces found, const std::string& host,
                             std::uint16_t port);

}  // namespace proxy
