#include "proxy/node/node_cluster.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/text/plain_message.hpp"
#include "proxy/config/cluster_settings.hpp"
#include "proxy/storage/local_secret.hpp"

namespace proxy {
namespace {

std::optional<protocol::HashSecret> own_secret_of(const LoadedConfig& config) {
    if (config.cache.disk.empty() || !cluster_settings(config).security.keys.empty())
        return std::nullopt;
    std::vector<std::filesystem::path> directories;
    for (const auto& disk : config.cache.disk) directories.push_back(disk.path);
    return local_secret(directories);
}

/// Adds the counts of earlier links of this node to those of the present ones.
void add_earlier(protocol::ClusterStatus& links, const protocol::ClusterStatus& earlier) {
    base::add<protocol::LinkCounters>(links, earlier, protocol::kLinkCounters);
    for (const auto& [reason, count] : earlier.refusals) links.refusals[reason] += count;
    links.peers_gone += earlier.peers_gone;
    add(links.gone, earlier.gone);
    for (auto& peer : links.peers) {
        for (const auto& was : earlier.peers)
            if (was.node == peer.node) add(peer, was);
    }
}

}  // namespace

NodeCluster::NodeCluster(boost::asio::io_context& control, const LoadedConfig& config,
                         protocol::ClusterHooks hooks)
    : control_(control),
      hooks_(std::move(hooks)),
      own_secret_(own_secret_of(config)),
      kind_(cluster_settings(config).summary.kind),
      cluster_(make(config)) {}

std::shared_ptr<protocol::Cluster> NodeCluster::make(const LoadedConfig& config) const {
    auto settings = cluster_settings(config);
    if (own_secret_) settings.security.own_secret = *own_secret_;
    return std::make_shared<protocol::Cluster>(control_, std::move(settings), hooks_);
}

void NodeCluster::replace(std::shared_ptr<protocol::Cluster> next) {
    earlier_ = status();
    next->start_in_place_of(*cluster_);
    cluster_ = std::move(next);
}

void NodeCluster::keys_changed(std::span<const KeyChange> changes) {
    for (const auto& [key, stored] : changes) {
        const auto entry = entry_of(kind_, {key, {}});
        stored ? cluster_->stored(entry) : cluster_->removed(entry);
    }
}

void NodeCluster::begin_import() {
    importing_ = true;
    cluster_->begin_import();
}

bool NodeCluster::end_import(bool loading, const ControlQueue& queue) {
    if (!importing_ || loading) return false;
    if (!found_) found_ = queue.changes_pushed();
    if (queue.changes_delivered() < *found_) return false;
    importing_ = false;
    cluster_->end_import();
    return true;
}

bool NodeCluster::is_complete() const {
    const auto links = cluster_->status();
    return links.unanswered.empty() &&
           std::ranges::all_of(
               links.peers,
               [](const auto& peer) { return peer.state == protocol::PeerState::in_sync; }) &&
           std::ranges::all_of(links.names, [](const auto& name) { return name.answered; });
}

protocol::ClusterStatus NodeCluster::status() const {
    auto links = cluster_->status();
    add_earlier(links, earlier_);
    return links;
}

std::string NodeCluster::restore_secret(const std::filesystem::path& directory) const {
    if (!own_secret_) return {};
    try {
        restore_local_secret(directory, *own_secret_);
    } catch (const std::exception& error) {
        return base::plain_message(error);
    }
    return {};
}

}  // namespace proxy
