#pragma once

#include <memory>
#include <utility>

#include "proxy/config/config.hpp"

namespace proxy {

/// The configuration that one thread uses now; a reload replaces it. The thread alone calls this. A
/// reference into the configuration is valid until the next wait. share() keeps it for longer.
class ConfigInEffect {
public:
    explicit ConfigInEffect(std::shared_ptr<const Config> config) : config_(std::move(config)) {}
    ConfigInEffect(const ConfigInEffect&) = delete;
    ConfigInEffect& operator=(const ConfigInEffect&) = delete;

    const Config& operator*() const { return *config_; }
    const Config* operator->() const { return config_.get(); }
    const std::shared_ptr<const Config>& share() const { return config_; }

    void replace(std::shared_ptr<const Config> config) { config_ = std::move(config); }

private:
    std::shared_ptr<const Config> config_;
};

}  // namespace proxy
