#pragma once

#include <string>
#include <vector>

#include "proxy/config/config.hpp"

namespace proxy {

/// The configuration in effect as JSON text, defaults included, keys masked.
std::string effective_config(const Config& config);

/// The path of every setting that has a default, as messages write it: `$.cache.memory`. Those of
/// list elements are left out.
std::vector<std::string> setting_paths();

}  // namespace proxy
