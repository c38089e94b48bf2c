#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/net/host_port.hpp"
#include "protocol/wire/keys.hpp"
#include "summary/directory/peer_set.hpp"

namespace protocol {

inline constexpr std::size_t kMaxPeers = summary::kMaxPeers;  // limit of max_peers
inline constexpr std::size_t kMinClusterKeyBytes = 32;

/// Whether a node may have this name: 1 to 64 bytes of an HTTP token (RFC 9110 §5.6.2), since names
/// stand in fields, log lines, labels and JSON.
constexpr bool is_node_name(std::string_view name) {
    if (name.empty() || name.size() > kMaxNodeIdBytes) return false;
    for (const char c : name) {
        const bool is_alphanumeric =
            (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
        if (!is_alphanumeric &&
            std::string_view("!#$%&'*+-.^_`|~").find(c) == std::string_view::npos)
            return false;
    }
    return true;
}

/// A node at a fixed place.
struct PeerConfig {
    std::string node;
    base::HostPort http;  // address for requests
    base::HostPort link;  // address for links

    bool operator==(const PeerConfig&) const = default;
};

/// A place where a node may be reached.
struct PeerPlace {
    std::string host;  // a name or an address
    std::uint16_t http_port = 0, link_port = 0;

    base::HostPort http() const { return {host, http_port}; }
    base::HostPort link() const { return {host, link_port}; }
    bool operator==(const PeerPlace&) const = default;
};

/// A name that leads to nodes. With ports, each address of the name is a node. Otherwise its SRV
/// records give the places: `_hearsay-link._tcp.NAME`, and `_hearsay-http._tcp.NAME` with the same
/// targets.
struct DnsPeers {
    std::string name;
    std::uint16_t http_port = 0, link_port = 0;  // both or neither

    bool has_ports() const { return link_port != 0; }
    bool operator==(const DnsPeers&) const = default;
};

}  // namespace protocol
