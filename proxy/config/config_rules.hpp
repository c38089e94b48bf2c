#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string_view>

#include "proxy/config/config_section.hpp"

namespace proxy {

/// True for a field that this node writes itself, or that defines the meaning of a message: no rule
/// may change it.
bool is_own_field(std::string_view name);

/// Reads `rules`. An element with a fault is reported, and the others are read all the same.
void read_rules(ConfigContext& context, ConfigSection& root, RuleTable& out);

/// The rules as the configuration in effect shows them: with the members that are set.
nlohmann::ordered_json rules_json(const RuleTable& rules);

}  // namespace proxy
