#pragma once

#include <span>

#include "proxy/config/setting.hpp"

namespace proxy {

/// All settings of the configuration file, in the order in which they are read, shown and
/// documented. A section stands before its members. The reader (config_sections.hpp), the
/// configuration in effect (config_json.hpp), the rule which changes need a restart
/// (config_changes.hpp), the JSON schema and the reference page come from this table. Any thread.
std::span<const Setting> setting_table();

}  // namespace proxy
