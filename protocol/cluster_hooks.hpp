#pragma once

#include <functional>
#include <memory>

#include "protocol/invalidation.hpp"
#include "protocol/peer_view.hpp"

namespace protocol {

/// What the cluster tells its owner, on the control thread. None may call stop() or destroy the
/// cluster.
struct ClusterHooks {
    /// Once in start(), then at each change.
    std::function<void(std::shared_ptr<const PeerView>)> on_view;
    /// A peer's; done when it returns, for that is what the peer is told. May be empty.
    std::function<void(const Invalidation&)> on_invalidation;
};

}  // namespace protocol
