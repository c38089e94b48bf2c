#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "proxy/config/config.hpp"
#include "proxy/config/config_section.hpp"

namespace proxy {

// Who the peers are, as `cluster.peers` has it: nodes at fixed places, and names behind which there
// are more. Control thread, or before there is one.

inline constexpr std::size_t kMaxPeerEntries = kMaxPeers + 1;  // this node may be among them
inline constexpr std::size_t kMaxPeerNames = 16;               // behind which there are more

/// The id of a node: a token, as it goes into messages, logs, labels and Cache-Status as it is.
void read_node(ConfigSection& in, std::string_view key, std::string& out);

/// Reads an array of peers of a section into `out`.
void read_peers(ConfigContext& context, ConfigSection& in, std::string_view key,
                ClusterConfig& out);
nlohmann::ordered_json peers_json(const ClusterConfig& cluster);

/// POST /api/v1/peers: {"peers": [...]} is the whole list from now on; {"add": [...], "remove":
/// ["b", "dns:NAME"]} changes it. Whoever is added takes the place of an entry of the same name, a
/// `dns` entry that of one with the same link port, too.
struct PeerOrder {
    bool whole = false;
    ClusterConfig add;                // its peers
    std::vector<std::string> remove;  // nodes, and `dns:` names
};
std::variant<PeerOrder, std::vector<ConfigError>> parse_peer_order(std::string_view body);

/// The list after it. A name to be removed that is not there is an error.
std::vector<ConfigError> apply(const PeerOrder& order, ClusterConfig& cluster);

/// What came of it.
struct PeersChanged {
    std::vector<ConfigError> errors;  // if any, nothing has changed
    bool draining = false;            // that is why
    ClusterConfig before, after;      // their peers
    std::vector<std::string> added, removed, moved;
};
/// `self`: this node, which is no peer of its own.
PeersChanged difference(const ClusterConfig& before, const ClusterConfig& after,
                        std::string_view self);
/// One line; empty: nothing has changed.
std::string peers_changed_text(const PeersChanged& changed);
std::string peers_changed_json(const PeersChanged& changed);
/// [{"path", "message"}], as POST /api/v1/reload has it too.
nlohmann::ordered_json errors_json(const std::vector<ConfigError>& errors);

}  // namespace proxy
