#pragma once

#include <memory>
#include <utility>

#include "proxy/config/config_changes.hpp"
#include "proxy/config/config_peers.hpp"
#include "proxy/node/load_config.hpp"
#include "proxy/node/node_parts.hpp"
#include "proxy/telemetry/log_sink.hpp"

namespace proxy {

/// Puts other settings in effect while a node runs: a whole configuration, or its peers alone. A
/// change takes effect as a whole, or is refused with reasons. Control thread.
class SettingsInEffect {
public:
    /// The parts outlive this object, and the control thread stops before this object ends.
    explicit SettingsInEffect(const NodeParts& node) : node_(node) {}

    /// Puts the configuration of a file in effect. `access_log` is the open log that it names.
    Reloaded replace(LoadResult read, LogSink access_log);
    /// Changes the list of peers until the next reload, which takes the list of the file.
    PeersChanged change_peers(const PeerOrder& order);

    /// Puts renewed files in effect, under the same settings. False if others than `was` are in
    /// effect by now, or if every change is refused.
    template <class Files>
    bool renew(Files WatchedFiles::*which, const Files& was, Files renewed) {
        if (closed_ || node_.config.files().*which != was) return false;
        auto files = node_.config.files();
        files.*which = std::move(renewed);
        put_in_effect(node_.config.share(), std::move(files));
        return true;
    }

    const ConfigInEffect& now() const { return node_.config; }

    /// From now on every change is refused, because the node drains or stops. Returns false if that
    /// was so before.
    bool close() { return !std::exchange(closed_, true); }
    bool closed() const { return closed_; }

private:
    void put_in_effect(std::shared_ptr<const LoadedConfig> config, WatchedFiles files);
    void step_cap();

    const NodeParts node_;
    bool closed_ = false;
    bool cap_moves_ = false;  // step_cap() is posted
};

}  // namespace proxy
