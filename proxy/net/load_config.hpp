#pragma once

#include <filesystem>
#include <memory>
#include <stop_token>

#include "proxy/config/config.hpp"
#include "proxy/config/parse_config.hpp"

namespace proxy {

/// The state of a node that reloads, beside the file.
struct LoadedBefore {
    std::shared_ptr<const Blocklists> blocklists = nullptr;  // in effect; taken again if unchanged
    std::stop_token stop = {};                               // the result is not wanted any more
};

/// Loads all that a node needs before it opens its ports: read_config(), and the certificates, keys
/// and CAs that the file names (Config::tls_contexts), its users (Config::access), and its
/// blocklists (Config::blocklists). Also checks the other files and folders, and warns of
/// certificates that expire soon.
ConfigResult load_config(const std::filesystem::path& file,
                         const Environment& environment = process_environment(),
                         const LoadedBefore& before = {});
/// The same before a start, which also needs usable directories for the disk tier. The errors of
/// all files and directories come together.
ConfigResult load_config_to_start(const std::filesystem::path& file,
                                  const Environment& environment = process_environment());

}  // namespace proxy
