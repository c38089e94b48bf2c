#pragma once

#include <vector>

#include "proxy/config/config.hpp"
#include "proxy/config/config_section.hpp"

namespace proxy {

/// Reads the list `origins` of the configuration.
void read_origins(ConfigContext& context, ConfigSection& root, std::vector<OriginConfig>& out);

}  // namespace proxy
