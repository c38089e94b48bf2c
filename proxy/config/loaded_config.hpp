#pragma once

#include "proxy/config/config.hpp"
#include "proxy/config/constants.hpp"

#include <map>
#include <memory>
#include <string>
#include <utility>

namespace proxy {

class Blocklists;
class PasswordFile;
struct TlsContexts;
struct UpstreamTrust;

/// The settings with all that was made of them when they were loaded, and that lives as long as
/// they do. A request points into it. Immutable once it is in use, and then for any thread.
struct LoadedConfig : Config {
    LoadedConfig() = default;
    explicit LoadedConfig(Config settings);  // without `given` and `trust`

    /// Clients of the forward proxy prove themselves.
    bool authenticates() const { return forward.enabled && forward.authentication; }

    /// The settings that the text has itself, as JSON before `${NAME}` is replaced, by path
    /// (`$.cache.memory`). All others are defaults. Empty without a text.
    std::map<std::string, std::string> given;
    /// The text has settings below this one, as with `cache.disk` as an object.
    bool gives_below(const std::string& path) const;
    /// Of the entries of `origins` with `public`; null without any.
    std::shared_ptr<const MirrorTable> mirrors;
    /// Verifies origins, parents and forward targets; load_files() sets it.
    std::shared_ptr<const UpstreamTrust> trust;
    /// Requests need an admission: one of `forward.authentication`, `forward.destinations` and
    /// `clients.limits` is set.
    bool judges_clients = false;
    Constants constants;
};

/// The files that the node reads again when they change, without another configuration.
struct WatchedFiles {
    std::shared_ptr<const TlsContexts> tls;
    /// Of `forward.authentication`; null without it, or without a forward proxy.
    std::shared_ptr<const PasswordFile> users;
    /// Of `forward.blocklists`; null without a list, or without a forward proxy.
    std::shared_ptr<const Blocklists> blocklists;
};

}  // namespace proxy
