#include "proxy/config/cluster_settings.hpp"

namespace proxy {

protocol::PeeringConfig cluster_settings(const LoadedConfig& config) {
    protocol::PeeringConfig result;
    result.node = config.node;
    result.summary = config.summary;
    if (!config.cluster) return result;
    const auto& cluster = *config.cluster;
    // The public name is in the key, and peers give each other rewritten bodies.
    result.rules = config.rules.key_hash() ^ (config.mirrors ? config.mirrors->hash() : 0);
    result.security.keys = cluster.keys;
    result.security.encrypt = cluster.encrypt;
    result.security.allow_clear = cluster.allow_clear;
    result.listen = cluster.listen;
    result.timings.heartbeat = cluster.heartbeat;
    result.timings.gone_after = cluster.gone_after;
    result.max_peers = cluster.max_peers;
    result.peers = cluster.peers;
    result.dns_peers = cluster.dns_peers;
    return result;
}

std::string path_of(std::string_view setting) {
    if (setting == "node") return "$.node";
    if (setting == "keys") return "$.cluster.key";
    return "$.cluster." + std::string(setting);
}

}  // namespace proxy
