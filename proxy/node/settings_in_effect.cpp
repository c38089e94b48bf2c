#include "proxy/node/settings_in_effect.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <boost/asio/post.hpp>
#include <exception>
#include <string_view>
#include <utility>

#include "base/text/plain_message.hpp"
#include "proxy/config/cluster_settings.hpp"
#include "proxy/config/config_review.hpp"
#include "proxy/telemetry/error_sink.hpp"

namespace proxy {
namespace {

namespace asio = boost::asio;

/// Whether a change needs a new cluster, because a running one cannot take it over.
bool needs_another_cluster(const LoadedConfig& from, const LoadedConfig& to) {
    auto one = cluster_settings(from), other = cluster_settings(to);
    one.peers = other.peers;
    one.dns_peers = other.dns_peers;
    return one != other;
}

bool names_certificates(const Config& config) {
    return config.tls || config.forward.intercept ||
           std::any_of(config.origins.begin(), config.origins.end(),
                       [](const auto& origin) { return origin.tls && !origin.tls->ca.empty(); });
}

}  // namespace

// The steps that may fail come first.
Reloaded SettingsInEffect::replace(LoadResult read, LogSink access_log) {
    Reloaded result;
    if (closed_) {
        result.outcome = Reloaded::Outcome::draining;
        result.errors.push_back({"$", "this node is draining"});
        return result;
    }
    if (!read.config) {
        result.errors = std::move(read.errors);
        return result;
    }
    read.config->constants = node_.config->constants;
    const auto next = std::make_shared<const LoadedConfig>(std::move(*read.config));
    result.changed = changed_settings(*node_.config, *next);
    result.errors = restart_only(*node_.config, *next, result.changed);
    const auto changes = [&](std::string_view setting) {
        return std::any_of(result.changed.begin(), result.changed.end(),
                           [&](const auto& path) { return is_within(path, setting); });
    };
    std::shared_ptr<protocol::Cluster> cluster;
    if (result.errors.empty() && needs_another_cluster(*node_.config, *next)) {
        try {
            cluster = node_.cluster.make(*next);
        } catch (const std::exception& error) {
            result.errors.push_back({"$.cluster", base::plain_message(error)});
        }
    }
    if (result.errors.empty() &&
        (changes("$.log.access") || changes("$.log.format") || changes("$.log.peers"))) {
        if (const auto error =
                node_.clients.access_log.reconfigure(next->log, std::move(access_log)))
            result.errors.push_back(
                {"$.log.access", "cannot open " + next->log.access + ": " + error.message()});
    }
    if (!result.errors.empty()) {
        result.changed.clear();
        return result;
    }

    const auto logged = logged_changes(*node_.config, *next, result.changed);
    const auto had_lists = node_.config.files().blocklists;
    put_in_effect(next, std::move(read.files));
    if (changes("$.log.level"))
        spdlog::set_level(static_cast<spdlog::level::level_enum>(node_.config->log.level));
    if (changes("$.log.error_format"))
        spdlog::default_logger()->set_formatter(
            make_error_formatter(node_.config->log.error_format));
    if (cluster)
        node_.cluster.replace(std::move(cluster));
    else if (changes("$.cluster.peers"))
        node_.cluster->set_peers(node_.config->cluster->peers, node_.config->cluster->dns_peers);
    node_.cache.windows.set_cap(node_.config->limits.body_windows);
    node_.cache.follow(*node_.config);
    if (changes("$.tracing")) node_.exporter.follow_settings();
    if (changes("$.cache.memory") && !std::exchange(cap_moves_, true)) step_cap();
    if (!logged.empty()) result.changed = logged;
    result.read_certificates = names_certificates(*node_.config);
    const auto& lists = node_.config.files().blocklists;
    result.read_blocklists = lists && lists != had_lists;
    result.read_users = node_.config.files().users != nullptr;
    result.outcome = Reloaded::Outcome::applied;
    return result;
}

PeersChanged SettingsInEffect::change_peers(const PeerOrder& order) {
    PeersChanged result;
    result.draining = closed_;
    if (closed_) result.errors.push_back({"$", "this node is draining"});
    if (!node_.config->cluster)
        result.errors.push_back(
            {"$", "this node has no cluster: give it a key and a link address first"});
    if (!result.errors.empty()) return result;
    LoadedConfig next = *node_.config;
    result.errors = proxy::apply(order, *next.cluster);
    if (result.errors.empty()) result.errors = contradictions(next);
    if (!result.errors.empty()) return result;
    next.given["$.cluster.peers"] = "by POST";  // differs from the file
    result = difference(*node_.config->cluster, *next.cluster, node_.config->node);
    const auto text = peers_changed_text(result);
    if (text.empty()) return result;
    node_.cluster->set_peers(next.cluster->peers, next.cluster->dns_peers);
    put_in_effect(std::make_shared<const LoadedConfig>(std::move(next)), node_.config.files());
    spdlog::info("node {}: POST /api/v1/peers: {}", node_.config->node, text);
    return result;
}

void SettingsInEffect::put_in_effect(std::shared_ptr<const LoadedConfig> config,
                                     WatchedFiles files) {
    node_.config.replace(std::move(config), std::move(files));
    for (auto& worker : node_.workers)
        asio::post(worker->io,
                   [&worker = *worker, config = node_.config.share(),
                    files = node_.config.files()] { worker.set_config(config, files); });
}

void SettingsInEffect::step_cap() {
    cap_moves_ =
        !node_.cache.store.step_cap_to(node_.config->cache.memory) && !node_.clients.draining;
    if (cap_moves_) asio::post(node_.control, [this] { step_cap(); });
}

}  // namespace proxy
