#pragma once

#include <filesystem>
#include <optional>
#include <string_view>
#include <vector>

#include "proxy/config/config.hpp"

namespace proxy {

struct ConfigResult {
    std::optional<Config> config;            // empty exactly when there are errors
    std::vector<ConfigError> errors;         // all of them, in the order of the file's sections
    std::vector<ConfigError> warnings = {};  // what is in order, but probably not meant
    std::vector<std::string> written_secrets =
        {};  // paths of secrets that stand in the text itself
};

ConfigResult parse_config(std::string_view json,
                          const Environment& environment = process_environment());
/// Reads a file alone; load_config() (proxy/net/load_config.hpp) looks at all that it names, too.
ConfigResult read_config(const std::filesystem::path& file,
                         const Environment& environment = process_environment());
/// For whoever asks a running node: only what is wrong with the place of its admin port is an
/// error, so neither its keys nor other variables of its environment are needed. Other settings may
/// be missing.
ConfigResult load_settings(const std::filesystem::path& file,
                           const Environment& environment = process_environment());

}  // namespace proxy
