#pragma once

#include <boost/asio/io_context.hpp>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "protocol/cluster.hpp"
#include "proxy/config/config.hpp"

namespace proxy {

/// Owns the node's part in the cluster. A reload may replace the protocol::Cluster behind it; the
/// counts of earlier ones stay in status(). Control thread, once that runs.
class NodeCluster {
public:
    /// Reads the secret for key hashes from the disk, or writes a new one there, if the node has a
    /// disk and no cluster key. Throws std::exception with a sentence for the user.
    NodeCluster(boost::asio::io_context& control, const Config& config,
                protocol::ClusterHooks hooks);

    protocol::Cluster* operator->() const { return cluster_.get(); }
    protocol::Cluster& operator*() const { return *cluster_; }

    /// A cluster for these settings that has yet to start. Throws as the constructor does.
    std::unique_ptr<protocol::Cluster> make(const Config& config) const;
    /// Starts `next` in place of the present cluster, which then ends.
    void replace(std::unique_ptr<protocol::Cluster> next);

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
    std::unique_ptr<protocol::Cluster> cluster_;
    protocol::ClusterStatus earlier_;
};

}  // namespace proxy
