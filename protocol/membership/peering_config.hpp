#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/net/dns_question.hpp"
#include "protocol/membership/peer_config.hpp"
#include "protocol/membership/summary_config.hpp"
#include "protocol/wire/keys.hpp"

namespace protocol {

/// Time limits. The defaults keep the promises of the cluster (gone within 3 s, in step within 2 s
/// of a restart). Tests shorten them.
struct Timings {
    std::chrono::nanoseconds heartbeat = std::chrono::seconds(1);
    std::chrono::nanoseconds gone_after = std::chrono::seconds(3);  // > 2 heartbeats
    std::chrono::nanoseconds reconnect_min = std::chrono::milliseconds(100);
    std::chrono::nanoseconds reconnect_max = std::chrono::seconds(1);
    std::chrono::nanoseconds connect = std::chrono::milliseconds(500);
    std::chrono::nanoseconds hello = std::chrono::seconds(2);
    std::chrono::nanoseconds check_hash = std::chrono::seconds(10);  // between two check-hashes
    std::chrono::nanoseconds forget = std::chrono::seconds(30);  // an unanswered place (Membership)
    std::chrono::nanoseconds look_gap = std::chrono::seconds(1);  // PeerFinder

    bool operator==(const Timings&) const = default;
};

/// The keys of a node, and the encryption of its links.
struct ClusterSecurity {
    /// 1 or 2 cluster keys, each of at least kMinClusterKeyBytes. With an empty list the node makes
    /// no links, and uses `own_secret`. A rotation goes from [old] to [new, old] on every node, and
    /// then to [new] on every node. Links use any key that both ends have. Keys of objects are
    /// hashed under the secret of the last cluster key, so during the second step nodes on both
    /// sides of it ignore each other's summaries (FORMAT.md).
    std::vector<std::string> keys;
    /// Hashes keys on a node without cluster keys. By default the node chooses a random secret for
    /// this instance.
    std::optional<HashSecret> own_secret;
    /// Links and peer requests are encrypted. Nodes with different values refuse each other's
    /// links, unless one has `allow_clear`: it takes both kinds, and dials in the clear where a
    /// node has proved that it does not encrypt. `allow_clear` is for the time of an upgrade, and
    /// needs `encrypt`.
    bool encrypt = true, allow_clear = false;

    bool operator==(const ClusterSecurity&) const = default;
};

/// Configuration of the cluster layer; proxy/ fills it from the JSON configuration.
struct PeeringConfig {
    std::string node;
    ClusterSecurity security;
    /// A hash of the rules by which requests get their keys; 0: the target URI is the key. Nodes
    /// with different values refuse each other's links, because equal requests have different keys
    /// there.
    std::uint64_t rules = 0;
    std::optional<base::HostPort> listen;  // absent: the node accepts no links
    std::vector<PeerConfig> peers;         // an entry with this node's own name is ignored
    std::vector<DnsPeers> dns_peers;       // any: nodes with a cluster key may join
    std::size_t max_peers = 256;           // listed and found, at most kMaxPeers
    SummaryConfig summary;
    base::DnsSettings dns;  // for looking up dns_peers
    Timings timings;
    /// Memory limit of one peer's replica; larger shapes are refused.
    std::uint64_t max_summary_bytes = std::uint64_t{256} << 20;
    /// Bytes of announcements that wait for one slow subscriber. Beyond it one snapshot replaces
    /// them. As many bytes of deltas are kept for subscribers whose link broke.
    std::size_t max_queued_bytes = std::size_t{1} << 20;
    /// Unconfirmed invalidations that are kept, 32 bytes each. Beyond it a peer that is behind has
    /// to drop everything.
    std::size_t max_invalidations_kept = std::size_t{1} << 18;

    bool operator==(const PeeringConfig&) const = default;
};

/// A setting that a cluster cannot run with: the member's name, and its valid values.
struct BadSetting {
    std::string_view setting;
    std::string why;
};
/// All faults of a configuration, for `hearsay check`, for a reload, and for Cluster, which throws
/// the first.
std::vector<BadSetting> faults(const PeeringConfig& config);

}  // namespace protocol
