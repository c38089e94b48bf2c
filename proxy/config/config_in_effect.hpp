#pragma once

#include <memory>
#include <utility>

#include "proxy/config/loaded_config.hpp"

namespace proxy {

/// The configuration that one thread uses now, and its files; a reload or a renewal replaces them.
/// The thread alone calls this. A reference into the configuration is valid until the next wait.
/// share() keeps it for longer. A request that began before a reload may meet files of the next
/// configuration, so each of them may be null for it. A request whose own settings want
/// a file that is null is refused.
class ConfigInEffect {
public:
    explicit ConfigInEffect(std::shared_ptr<const LoadedConfig> config, WatchedFiles files = {})
        : config_(std::move(config)), files_(std::move(files)) {}
    ConfigInEffect(const ConfigInEffect&) = delete;
    ConfigInEffect& operator=(const ConfigInEffect&) = delete;

    const LoadedConfig& operator*() const { return *config_; }
    const LoadedConfig* operator->() const { return config_.get(); }
    const std::shared_ptr<const LoadedConfig>& share() const { return config_; }
    const WatchedFiles& files() const { return files_; }

    void replace(std::shared_ptr<const LoadedConfig> config, WatchedFiles files) {
        config_ = std::move(config);
        files_ = std::move(files);
    }

private:
    std::shared_ptr<const LoadedConfig> config_;
    WatchedFiles files_;
};

}  // namespace proxy
