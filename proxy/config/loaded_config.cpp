#include "proxy/config/loaded_config.hpp"

#include "proxy/config/config_origins.hpp"

namespace proxy {

LoadedConfig::LoadedConfig(Config settings)
    : Config(std::move(settings)),
      mirrors(mirrors_of(origins)),
      judges_clients(authenticates() || !forward.destinations.empty() || clients.limits.any()) {}

}  // namespace proxy
