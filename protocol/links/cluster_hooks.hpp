#pragma once

#include <functional>
#include <memory>
#include <string>

#include "protocol/membership/peer_view.hpp"
#include "protocol/wire/invalidation.hpp"
#include "protocol/wire/renewal.hpp"

namespace protocol {

/// Notices from the cluster to its owner, on the control thread. A hook must neither call stop()
/// nor destroy the cluster.
struct ClusterHooks {
    /// A new view; called once in start(), and at each change.
    std::function<void(std::shared_ptr<const PeerView>)> on_view;
    /// An invalidation by a peer, to be applied before the hook returns. The owner calls `done`
    /// once, on the control thread, when the effect would survive the death of this process: at
    /// once or later, even after the end of the link and the cluster. The peer then gets a
    /// confirmation, as soon as all earlier invalidations are done too. The same invalidation may
    /// come again. The hook may be empty.
    std::function<void(const Invalidation&, std::function<void()> done)> on_invalidation;
    /// Peer `node` tells of renewals. The hook may be empty.
    std::function<void(const std::string& node, const Renewals&)> on_renewals;
};

}  // namespace protocol
