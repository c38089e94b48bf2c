#pragma once

#include <filesystem>
#include <memory>
#include <stop_token>
#include <vector>

#include "proxy/config/loaded_config.hpp"
#include "proxy/config/parse_config.hpp"

namespace proxy {

/// The files that a configuration names, or why a node cannot use them.
struct FilesRead {
    WatchedFiles files;
    std::vector<ConfigError> errors, warnings;
};
/// The state of a node that reloads, beside the file.
struct PreviousConfig {
    std::shared_ptr<const Blocklists> blocklists = nullptr;  // in effect; taken again if unchanged
    std::stop_token stop = {};                               // the result is not wanted any more
};

/// Reads the certificates, keys, CAs, users and blocklists that `config` names, and sets its
/// `trust`. `errors`: earlier ones, beside which long lists are not worth a read. Blocks on disks.
FilesRead load_files(LoadedConfig& config, const PreviousConfig& before = {},
                     std::vector<ConfigError> errors = {});

struct LoadResult : ConfigResult {
    WatchedFiles files;
};
/// Loads all that a node needs before it opens its ports: read_config() and load_files(). Also
/// checks the other files and folders, and warns of certificates that expire soon.
LoadResult load_config(const std::filesystem::path& file,
                       const Environment& environment = process_environment(),
                       const PreviousConfig& before = {});
/// The same before a start, which also needs usable directories for the disk tier. The errors of
/// all files and directories come together.
LoadResult load_config_to_start(const std::filesystem::path& file,
                                const Environment& environment = process_environment());

}  // namespace proxy
