#pragma once

#include <nlohmann/json_fwd.hpp>

#include "proxy/config/config.hpp"
#include "proxy/config/config_section.hpp"
#include "proxy/config/object_ref.hpp"

namespace proxy {

/// Reads all sections of a configuration one by one. config_review.hpp checks their combination.
/// Errors go to `context`, and defaults take their place.
Config read_sections(ConfigContext& context, const nlohmann::json& value);

/// Reads the settings whose rows stand below `parent` in the table of settings: those of a section,
/// or of an element of a list (`rules[]`). Reports all other keys.
void read_members(ConfigSection& in, std::string_view parent, ObjectRef out);

}  // namespace proxy
