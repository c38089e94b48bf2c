#pragma once

#include <memory>
#include <utility>

#include "proxy/config/config_changes.hpp"
#include "proxy/config/config_peers.hpp"
#include "proxy/config/parse_config.hpp"
#include "proxy/node_parts.hpp"
#include "proxy/telemetry/log_sink.hpp"

namespace proxy {

/// Puts other settings in effect while a node runs: a whole configuration, or its peers alone. A
/// change takes effect as a whole, or is refused with reasons. Control thread.
class SettingsInEffect {
public:
    /// The parts outlive this object, and the control thread stops before this object ends.
    explicit SettingsInEffect(const NodeParts& node) : node_(node) {}

    /// Puts the configuration of a file in effect. `access_log` is the open log that it names.
    Reloaded replace(ConfigResult read, LogSink access_log);
    /// Changes the list of peers until the next reload, which takes the list of the file.
    PeersChanged change_peers(const PeerOrder& order);

    /// Puts other contexts of the same certificate files in effect. False if the configuration has
    /// other contexts than `was` by now, or if every change is refused.
    bool renew_certificates(const std::shared_ptr<const TlsContexts>& was,
                            std::shared_ptr<const TlsContexts> renewed);

    /// The same for blocklists.
    bool renew_blocklists(const std::shared_ptr<const Blocklists>& was,
                          std::shared_ptr<const Blocklists> renewed);

    /// The same for the users of the forward proxy.
    bool renew_access(const std::shared_ptr<const AccessRules>& was,
                      std::shared_ptr<const AccessRules> renewed);

    const std::shared_ptr<const Config>& config() const { return node_.config.share(); }

    /// From now on every change is refused, because the node drains or stops. Returns false if that
    /// was so before.
    bool close() { return !std::exchange(closed_, true); }
    bool closed() const { return closed_; }

private:
    void put_in_effect(std::shared_ptr<const Config> config);
    void step_cap();

    const NodeParts node_;
    bool closed_ = false;
    bool cap_moves_ = false;  // step_cap() is posted
};

}  // namespace proxy
