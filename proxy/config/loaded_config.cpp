#include "proxy/config/loaded_config.hpp"

#include "proxy/config/config_origins.hpp"

namespace proxy {

LoadedConfig::LoadedConfig(Config settings)
    : Config(std::move(settings)),
      mirrors(mirrors_of(origins)),
      judges_clients(authenticates() || !forward.destinations.empty() || clients.limits.any()) {}

bool LoadedConfig::gives_below(const std::string& path) const {
    const auto first = given.lower_bound(path + '.');
    return first != given.end() && first->first.starts_with(path + '.');
}

}  // namespace proxy
