#pragma once

#include <cstddef>
#include <memory>

#include "protocol/membership/peer_view.hpp"
#include "proxy/upstream/upstream_pool.hpp"

namespace proxy {

/// One peer as a view of the cluster has it. Keeps the view, so the peer stays readable when newer
/// views replace it.
struct PeerOfView {
    using Peer = protocol::PeerView::Peer;

    std::shared_ptr<const protocol::PeerView> view;  // never null
    std::size_t index = 0;

    const Peer& operator*() const { return view->peers[index]; }
    const Peer* operator->() const { return &view->peers[index]; }
    /// Its http port.
    UpstreamTarget target() const {
        UpstreamTarget target{view->peers[index].http};
        target.peer = true;
        target.encrypted = view->peers[index].encrypted;
        return target;
    }
};

}  // namespace proxy
