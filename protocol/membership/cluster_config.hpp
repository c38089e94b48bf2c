#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/membership/peer_config.hpp"
#include "protocol/net/dns_question.hpp"
#include "protocol/wire/keys.hpp"
#include "summary/false_hit_budget.hpp"
#include "summary/kind.hpp"

namespace protocol {

/// How long things may take. The defaults hold the promises of the cluster (gone within 3 s, in
/// step within 2 s of a restart); tests shorten them.
struct Timings {
    std::chrono::nanoseconds heartbeat = std::chrono::seconds(1);
    std::chrono::nanoseconds gone_after = std::chrono::seconds(3);  // > 2 heartbeats
    std::chrono::nanoseconds reconnect_min = std::chrono::milliseconds(100);
    std::chrono::nanoseconds reconnect_max = std::chrono::seconds(1);
    std::chrono::nanoseconds connect = std::chrono::milliseconds(500);
    std::chrono::nanoseconds hello = std::chrono::seconds(2);
    std::chrono::nanoseconds check_hash = std::chrono::seconds(10);  // between two check-hashes
    std::chrono::nanoseconds forget = std::chrono::seconds(30);      // Membership: nobody was there
    std::chrono::nanoseconds look_gap = std::chrono::seconds(1);     // PeerFinder

    bool operator==(const Timings&) const = default;
};

/// What the cluster layer needs to know; proxy/ fills it from the JSON configuration.
struct ClusterConfig {
    std::string node;
    /// 1 or 2, each of at least kMinClusterKeyBytes. None: no links, and `own_secret`.
    /// To rotate: [old] -> [new, old] on every node, then [new] on every node. Links use any key
    /// both ends have; keys are hashed under the secret of the last one, so nodes on both sides of
    /// the second step do not use each other's summaries until it is through (FORMAT.md).
    std::vector<std::string> keys;
    /// Hashes keys where there are no cluster keys; none: a random one, for this run.
    std::optional<HashSecret> own_secret;
    std::optional<HostPort> listen;   // none: nobody can publish to this node
    std::vector<PeerConfig> peers;    // an entry with our own id is ignored
    std::vector<DnsPeers> dns_peers;  // any: who holds a key may come, and is a peer then
    std::size_t max_peers = 256;      // listed and found, at most kMaxPeers
    summary::Kind summary_kind = summary::kDefaultKind;  // of our own
    double false_hit_budget =
        summary::kDefaultFalseHitBudget;  // expected false hits per local miss, over all peers
    double announce_changed = 0.001;      // tell when this share of the objects has changed
    std::chrono::nanoseconds announce_delay = std::chrono::seconds(1);  // or after this long
    DnsSettings dns;  // how dns_peers are looked up
    Timings timings;
    /// Largest replica kept for one peer; a larger shape is refused.
    std::uint64_t max_summary_bytes = std::uint64_t{256} << 20;
    /// Announcements waiting for one slow subscriber; above it they become one snapshot.
    std::size_t max_queued_bytes = std::size_t{1} << 20;
    /// Invalidations kept because a peer has not confirmed them; above it that peer has to drop
    /// everything. 32 bytes each.
    std::size_t max_invalidations_kept = std::size_t{1} << 18;

    bool operator==(const ClusterConfig&) const = default;
};

/// A setting that a cluster cannot run with: the member's name, and what it must be.
struct BadSetting {
    std::string_view setting;
    std::string why;
};
/// All that stands against a configuration, for whoever reads one (`hearsay check`, a reload) and
/// for Cluster itself, which throws the first.
std::vector<BadSetting> faults(const ClusterConfig& config);

}  // namespace protocol
