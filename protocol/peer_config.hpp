#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "protocol/host_port.hpp"
#include "summary/peer_set.hpp"

namespace protocol {

inline constexpr std::size_t kMaxPeers = summary::kMaxPeers;  // whatever max_peers says
inline constexpr std::size_t kMaxNodeIdBytes = 64;
inline constexpr std::size_t kMinClusterKeyBytes = 32;
inline constexpr std::size_t kMaxClusterKeys = 2;

/// A node at a fixed place.
struct PeerConfig {
    std::string node;
    HostPort http;  // where it answers requests
    HostPort link;  // where it listens for summaries

    bool operator==(const PeerConfig&) const = default;
};

/// A name behind which nodes are found. With ports, each of its addresses is a node; without, its
/// SRV records say where they are: `_hearsay-link._tcp.NAME`, and `_hearsay-http._tcp.NAME` with
/// the same targets.
struct DnsPeers {
    std::string name;
    std::uint16_t http_port = 0, link_port = 0;  // both or none

    bool has_ports() const { return link_port != 0; }
    bool operator==(const DnsPeers&) const = default;
};

}  // namespace protocol
