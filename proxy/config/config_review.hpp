#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "proxy/config/config.hpp"

namespace proxy {

/// Settings that are each in order but cannot stand together: a node would not start with them.
std::vector<ConfigError> contradictions(const Config& config);

/// What runs, but is probably not what its writer meant. Looks at the configuration alone.
std::vector<ConfigError> doubts(const Config& config);

/// Files and folders that a node needs and will not find (those of TLS: load_tls).
std::vector<ConfigError> missing_files(const Config& config);

/// Secrets that every user of this machine can read: the key of `tls`, and those of paths `written`
/// that stand in the configuration `file` itself (ConfigResult::written_secrets).
std::vector<ConfigError> open_secrets(const Config& config, const std::filesystem::path& file,
                                      const std::vector<std::string>& written);

/// What would fail on this machine as it is now: names that do not resolve, addresses, memory and
/// disks it does not have. Asks the resolver, so it may take seconds: for `check`, not for a
/// running node.
std::vector<ConfigError> doubts_here(const Config& config);

}  // namespace proxy
