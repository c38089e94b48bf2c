#pragma once

#include <vector>

#include "proxy/config/config.hpp"
#include "proxy/config/config_section.hpp"

namespace proxy {

/// Reads the list `blocklists` of the section `forward`. A file may be listed once, because it
/// identifies its list in messages and pages.
void read_blocklist_settings(ConfigContext& context, ConfigSection& forward,
                             std::vector<BlocklistConfig>& out);

}  // namespace proxy
