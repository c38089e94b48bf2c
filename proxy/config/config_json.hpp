#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "proxy/config/config.hpp"
#include "proxy/config/object_ref.hpp"

namespace proxy {

/// The configuration in effect, defaults included, keys masked. Strings may hold any bytes.
nlohmann::ordered_json config_json(const Config& config);
/// The settings of `object` whose rows stand below `parent` in the table of settings.
nlohmann::ordered_json members_json(ConstObjectRef object, std::string_view parent);
/// The same as JSON text. Bytes of a string that are no UTF-8 become U+FFFD.
std::string effective_config(const Config& config);

/// The path of every setting, as in messages: `$.cache.memory`, and `$.origins[].host` for a member
/// of list elements.
std::vector<std::string> setting_paths();

}  // namespace proxy
