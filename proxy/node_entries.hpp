#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "proxy/control_queue.hpp"
#include "proxy/node_cluster.hpp"
#include "summary/kind.hpp"

namespace proxy {

/// Applies key changes to the own summary. At a start with a disk, it holds the first announcement
/// back until the summary has all keys that recovery finds. Control thread.
class NodeEntries {
public:
    /// `queue` delivers the key changes. All arguments outlive this object.
    NodeEntries(const ControlQueue& queue, NodeCluster& cluster, summary::Kind kind)
        : queue_(queue), cluster_(cluster), kind_(kind) {}

    void apply(std::span<const KeyChange> changes);

    /// Call it before the cluster starts, if recovery is going to read a disk.
    void begin_import();
    bool importing() const { return importing_; }
    /// Call it periodically. `loading`: recovery still reads, and the node waits for it. Returns
    /// true once: when the own summary has every key of the disk, and peers may get it.
    bool end_import(bool loading);

private:
    const ControlQueue& queue_;
    NodeCluster& cluster_;
    const summary::Kind kind_;
    bool importing_ = false;
    std::optional<std::uint64_t> found_;  // key changes in the queue when recovery had ended
};

}  // namespace proxy
