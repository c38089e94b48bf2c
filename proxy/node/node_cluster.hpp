#pragma once

#include <boost/asio/io_context.hpp>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "protocol/cluster.hpp"
#include "proxy/config/loaded_config.hpp"
#include "proxy/node/control_queue.hpp"
#include "summary/sizing/kind.hpp"

namespace proxy {

/// The node's part in the cluster. A reload may replace the protocol::Cluster behind it; the counts
/// of earlier ones stay in status(). At a start with a disk, it holds the first announcement back
/// until the own summary has all keys that recovery finds. Control thread, once that runs.
class NodeCluster final : public ControlQueue::KeyHandler {
public:
    /// Reads the secret for key hashes from the disk, or writes a new one there, if the node has a
    /// disk and no cluster key. Throws std::exception with a sentence for the user.
    NodeCluster(boost::asio::io_context& control, const LoadedConfig& config,
                protocol::ClusterHooks hooks);
    ~NodeCluster() { cluster_->stop(); }
    NodeCluster(const NodeCluster&) = delete;
    NodeCluster& operator=(const NodeCluster&) = delete;

    protocol::Cluster* operator->() const { return cluster_.get(); }
    protocol::Cluster& operator*() const { return *cluster_; }

    /// A cluster for these settings that has yet to start. Throws as the constructor does.
    std::shared_ptr<protocol::Cluster> make(const LoadedConfig& config) const;
    /// Starts `next` in place of the present cluster, which then ends.
    void replace(std::shared_ptr<protocol::Cluster> next);

    /// Applies key changes to the own summary.
    void keys_changed(std::span<const KeyChange> changes) override;
    /// Call it before the cluster starts, if recovery is going to read a disk.
    void begin_import();
    bool importing() const { return importing_; }
    /// Call it periodically. `loading`: recovery still reads, and the node waits for it. `queue`
    /// delivers the key changes. Returns true once: when the own summary has every key of the disk,
    /// and peers may get it.
    bool end_import(bool loading, const ControlQueue& queue);

    /// The node is in step with each node that it should have a link to, as far as it knows them.
    bool is_complete() const;
    /// State of the present links, and counts of all links since the node's start.
    protocol::ClusterStatus status() const;

    /// Puts that secret back into a directory of the disk that lost it, for
    /// DiskTier::Config::prepare. Returns the reason for a failure, else an empty string. Any
    /// thread.
    std::string restore_secret(const std::filesystem::path& directory) const;

private:
    boost::asio::io_context& control_;
    const protocol::ClusterHooks hooks_;
    const std::optional<protocol::HashSecret>
        own_secret_;  // none with a cluster key or without disk
    const summary::Kind kind_;
    std::shared_ptr<protocol::Cluster> cluster_;
    protocol::ClusterStatus earlier_;
    bool importing_ = false;
    std::optional<std::uint64_t> found_;  // key changes in the queue when recovery had ended
};

}  // namespace proxy
