#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "protocol/links/cluster_status.hpp"
#include "protocol/publishing/invalidation_backlog.hpp"

namespace protocol {

/// The peers that this node has had: the invalidations that each has confirmed, for the time of its
/// return, and the sums of their counters. Remembers the confirmations of 1,024 peers. One thread.
class FormerPeers {
public:
    using PeerProgress = InvalidationBacklog::PeerProgress;
    using ConfirmedByNode = InvalidationBacklog::ConfirmedByNode;

    /// Knows the confirmations of these peers alone from now on.
    void know(ConfirmedByNode confirmed);
    /// The peer is gone, with this progress.
    void left(const std::string& node, const PeerProgress& confirmed);
    /// The node is a peer again. Returns its progress, if it was a peer.
    std::optional<PeerProgress> returns(const std::string& node);

    const ConfirmedByNode& confirmed() const { return confirmed_; }

    /// Counters of links with former peers, and of links to nobody.
    ClusterStatus::Peer counters;
    std::uint64_t count = 0;  // of peers that have left

private:
    void forget();

    ConfirmedByNode confirmed_;
};

}  // namespace protocol
