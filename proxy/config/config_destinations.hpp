#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "proxy/config/config.hpp"
#include "proxy/config/config_section.hpp"

namespace proxy {

/// Reads a list of `forward.destinations`. The caller's table has the setting.
void read_patterns(ConfigSection& in, std::string_view key, std::vector<DestinationPattern>& out);

/// The patterns as written.
std::vector<std::string> texts_of_patterns(const std::vector<DestinationPattern>& patterns);

}  // namespace proxy
