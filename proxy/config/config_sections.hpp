#pragma once

#include <nlohmann/json_fwd.hpp>

#include "proxy/config/config.hpp"
#include "proxy/config/config_section.hpp"

namespace proxy {

/// Reads all sections of a configuration, each by itself; what must go together is looked at by
/// config_review.hpp. What is wrong goes to `context`, and its default stands in its place.
Config read_sections(ConfigContext& context, const nlohmann::json& value);

}  // namespace proxy
