#pragma once

#include <nlohmann/json_fwd.hpp>

#include "proxy/config/config.hpp"
#include "proxy/config/config_section.hpp"

namespace proxy {

/// Reads all sections of a configuration one by one. config_review.hpp checks their combination.
/// Errors go to `context`, and defaults take their place.
Config read_sections(ConfigContext& context, const nlohmann::json& value);

}  // namespace proxy
