#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "proxy/config/config.hpp"

namespace proxy {

/// The configuration in effect, defaults included, keys masked. Strings may hold any bytes.
nlohmann::ordered_json config_json(const Config& config);
/// The same as JSON text; what is no UTF-8 in a string becomes U+FFFD.
std::string effective_config(const Config& config);

/// The path of every setting that has a default, as messages write it: `$.cache.memory`. Those of
/// list elements are left out.
std::vector<std::string> setting_paths();

}  // namespace proxy
