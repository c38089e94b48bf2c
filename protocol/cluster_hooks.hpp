#pragma once

#include <functional>
#include <memory>
#include <span>

#include "protocol/peer_view.hpp"
#include "summary/key_hash.hpp"

namespace protocol {

/// Stored responses that no longer count: those of these keys and those with these tags.
struct Invalidation {
    std::span<const summary::KeyHash> keys, tags;
    bool all = false;  // nor does anything else that is stored
};

/// What the cluster tells its owner, on the control thread. None may call stop() or destroy the
/// cluster.
struct ClusterHooks {
    /// Once in start(), then at each change.
    std::function<void(std::shared_ptr<const PeerView>)> on_view;
    /// A peer's; done when it returns, for that is what the peer is told. May be empty.
    std::function<void(const Invalidation&)> on_invalidation;
};

}  // namespace protocol
