#pragma once

#include <boost/asio/io_context.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "protocol/cluster.hpp"
#include "proxy/control_feed.hpp"
#include "summary/key_hash.hpp"
#include "summary/kind.hpp"

namespace proxy {

/// What a node stores and what it no longer does, on its way to its own summary. What a start finds
/// on the disk is to be there before peers are told of any. Control thread, but for what says
/// otherwise.
class NodeEntries {
public:
    /// `cluster`: which one it is may change, its kind of summary not.
    NodeEntries(boost::asio::io_context& control, const std::unique_ptr<protocol::Cluster>& cluster,
                summary::Kind kind);

    /// A key became stored, or is no longer. Any thread.
    void tell(summary::KeyHash key, bool stored);

    /// Before the cluster starts, where there is a disk to be read.
    void begin_fill();
    bool filling() const { return filling_; }
    /// To be called now and then. True once: when all that a start finds is in the own summary.
    /// `loading`: the disk is still being read, and waited for.
    bool end_fill(bool loading);

private:
    using Change = std::pair<summary::KeyHash, bool>;  // an entry: stored, or no longer

    const std::unique_ptr<protocol::Cluster>& cluster_;
    const summary::Kind kind_;
    ControlFeed<Change> changes_;
    bool filling_ = false;                // what a start finds is not told yet
    std::optional<std::uint64_t> found_;  // of changes_, when all had been found
};

}  // namespace proxy
