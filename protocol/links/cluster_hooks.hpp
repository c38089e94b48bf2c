#pragma once

#include <functional>
#include <memory>

#include "protocol/membership/peer_view.hpp"
#include "protocol/wire/invalidation.hpp"

namespace protocol {

/// What the cluster tells its owner, on the control thread. None may call stop() or destroy the
/// cluster.
struct ClusterHooks {
    /// Once in start(), then at each change.
    std::function<void(std::shared_ptr<const PeerView>)> on_view;
    /// A peer's. To be applied before it returns. `done` is to be called once, on the control
    /// thread, when that will stay so even if this process is killed: at once, or later, also when
    /// the link and this cluster have gone. Then the peer is told, of it and of what came before
    /// it, once all that is done, too. The same may be handed in again. May be empty.
    std::function<void(const Invalidation&, std::function<void()> done)> on_invalidation;
};

}  // namespace protocol
