#pragma once

#include <filesystem>

#include "proxy/config/config.hpp"
#include "proxy/config/parse_config.hpp"

namespace proxy {

/// Loads all that a node needs before it opens its ports: read_config(), and the certificates, keys
/// and CAs that the file names (Config::tls_contexts). Also checks the other files and folders,
/// and warns of certificates that expire soon.
ConfigResult load_config(const std::filesystem::path& file,
                         const Environment& environment = process_environment());
/// The same before a start, which also needs usable directories for the disk tier. The errors of
/// all files and directories come together.
ConfigResult load_config_to_start(const std::filesystem::path& file,
                                  const Environment& environment = process_environment());

}  // namespace proxy
