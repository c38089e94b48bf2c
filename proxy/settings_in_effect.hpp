#pragma once

#include <boost/asio/io_context.hpp>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "protocol/cluster.hpp"
#include "protocol/links/cluster_status.hpp"
#include "proxy/cache/cache.hpp"
#include "proxy/client/frontend.hpp"
#include "proxy/config/config.hpp"
#include "proxy/config/config_changes.hpp"
#include "proxy/config/config_peers.hpp"
#include "proxy/config/parse_config.hpp"
#include "proxy/telemetry/log_sink.hpp"
#include "proxy/worker.hpp"

namespace proxy {

/// Puts other settings in effect while a node runs, be it all of its file or its peers alone: all
/// of what is asked for, or nothing of it and why. Control thread.
class SettingsInEffect {
public:
    /// What of the node goes by settings, of which this one changes the first three.
    struct Parts {
        std::shared_ptr<const Config>& config;
        std::unique_ptr<protocol::Cluster>& cluster;
        protocol::ClusterStatus& earlier_links;  // what the clusters before it counted
        boost::asio::io_context& control;
        SharedCache& cache;
        SharedFrontend& clients;
        const std::vector<std::unique_ptr<Worker>>& workers;
        const bool& leaving;  // everything is refused then
    };
    /// Throws std::exception with a sentence for the user.
    using MakeCluster = std::function<std::unique_ptr<protocol::Cluster>(const Config&)>;

    /// All of that outlives this, and `control` runs no longer than this lives.
    SettingsInEffect(Parts node, MakeCluster make_cluster)
        : node_(node), make_cluster_(std::move(make_cluster)) {}

    /// What was read from the configuration's file takes the place of all settings; `access_log` is
    /// what that names, opened.
    Reloaded replace(ConfigResult read, LogSink access_log);
    /// Until the configuration is read again, which says it all anew.
    PeersChanged change_peers(const PeerOrder& order);

private:
    void put_in_effect(std::shared_ptr<const Config> config);
    void step_cap();

    const Parts node_;
    const MakeCluster make_cluster_;
    bool cap_moves_ = false;  // step_cap() is posted
};

}  // namespace proxy
