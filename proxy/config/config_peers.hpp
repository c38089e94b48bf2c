#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "proxy/config/config.hpp"
#include "proxy/config/config_section.hpp"

namespace proxy {

// The peers of `cluster.peers`: nodes at fixed places, and names that stand for several. Control
// thread, or before there is one.

inline constexpr std::size_t kMaxPeerEntries = kMaxPeers + 1;  // this node may be among them
inline constexpr std::size_t kMaxPeerNames = 16;               // each stands for several nodes

/// Reads the id of a node: a token, because messages, logs, labels and Cache-Status show it as it
/// is.
void read_node(ConfigSection& in, std::string_view key, std::string& out);

/// Reads an array of peers of a section into `out`.
void read_peers(ConfigSection& in, std::string_view key, ClusterConfig& out);
nlohmann::ordered_json peers_json(const ClusterConfig& cluster);

/// POST /api/v1/peers: {"peers": [...]} is the whole new list; {"add": [...], "remove": ["b",
/// "dns:NAME"]} changes it. An added peer replaces an entry of the same name. A `dns` entry
/// replaces one with the same link port, too.
struct PeerOrder {
    bool whole = false;
    ClusterConfig add;                // its peers
    std::vector<std::string> remove;  // nodes, and `dns:` names
};
std::variant<PeerOrder, std::vector<ConfigError>> parse_peer_order(std::string_view body);

/// Applies the order to the list. A missing name to remove is an error.
std::vector<ConfigError> apply(const PeerOrder& order, ClusterConfig& cluster);

/// The outcome of an order.
struct PeersChanged {
    std::vector<ConfigError> errors;  // with any of them nothing has changed
    bool draining = false;            // the reason of the errors
    ClusterConfig before, after;      // their peers
    std::vector<std::string> added, removed, moved;
};
/// `self`: this node, which is no peer of itself.
PeersChanged difference(const ClusterConfig& before, const ClusterConfig& after,
                        std::string_view self);
/// One line; empty without a change.
std::string peers_changed_text(const PeersChanged& changed);
std::string peers_changed_json(const PeersChanged& changed);
/// [{"path", "message"}], as in the response to POST /api/v1/reload.
nlohmann::ordered_json errors_json(const std::vector<ConfigError>& errors);

}  // namespace proxy
