#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "proxy/config/loaded_config.hpp"

namespace proxy {

/// Settings that are correct one by one and cannot stand together. A node would not start with
/// them.
std::vector<ConfigError> contradictions(const LoadedConfig& config);

/// Settings that run, but are probably a mistake. Looks at the configuration alone.
std::vector<ConfigError> doubts(const LoadedConfig& config);

/// Files and folders that a node needs and would not find. load_tls() checks those of TLS.
std::vector<ConfigError> missing_files(const Config& config);

/// Secrets that every user of this machine can read: the keys of `tls`, and the secrets at the
/// paths `written`, which the configuration `file` itself contains (ConfigResult::written_secrets).
std::vector<ConfigError> open_secrets(const Config& config, const std::filesystem::path& file,
                                      const std::vector<std::string>& written);

/// Settings that would fail on this machine now: unresolvable names, addresses, and memory and
/// disks that it lacks. Uses the resolver, so it may take seconds: for `check`, not for a running
/// node.
std::vector<ConfigError> doubts_here(const Config& config);

}  // namespace proxy
