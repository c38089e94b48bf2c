#pragma once

#include <filesystem>
#include <optional>
#include <string_view>
#include <vector>

#include "proxy/config/loaded_config.hpp"

namespace proxy {

struct ConfigResult {
    std::optional<LoadedConfig> config;      // empty exactly when there are errors
    std::vector<ConfigError> errors;         // all of them, in the order of the file's sections
    std::vector<ConfigError> warnings = {};  // correct, but probably a mistake
    std::vector<std::string> written_secrets =
        {};  // paths of secrets that the text itself contains
};

ConfigResult parse_config(std::string_view json,
                          const Environment& environment = process_environment());
/// Reads a file alone. load_config() (proxy/node/load_config.hpp) also reads the files that it
/// names.
ConfigResult read_config(const std::filesystem::path& file,
                         const Environment& environment = process_environment());
/// For a command to a running node. Only the place of the admin port must be correct, so neither
/// keys nor other variables of the node's environment are needed. Other settings may be missing.
ConfigResult load_settings(const std::filesystem::path& file,
                           const Environment& environment = process_environment());

}  // namespace proxy
