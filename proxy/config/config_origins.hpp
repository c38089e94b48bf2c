#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string_view>
#include <vector>

#include "proxy/config/config.hpp"
#include "proxy/config/config_section.hpp"

namespace proxy {

/// Reads the list `origins` of the configuration.
void read_origins(ConfigSection& root, std::string_view key, std::vector<OriginConfig>& out);

/// The mirrors of the entries with `public`; null without any.
std::shared_ptr<const MirrorTable> mirrors_of(const std::vector<OriginConfig>& origins);

/// The list as the configuration has it, with defaults.
nlohmann::ordered_json origins_json(const std::vector<OriginConfig>& origins);

}  // namespace proxy
