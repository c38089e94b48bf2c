#pragma once

#include <string_view>
#include <vector>

#include "proxy/config/config.hpp"

namespace proxy {

/// The directories of cache.disk as they are on this machine now. Each function asks the system.

/// Directories that a node cannot start with, because of their kind or owner. A running node goes
/// on without them.
std::vector<ConfigError> unusable_disks(const Config& config);

/// Makes the missing directories, for this user and its group alone. Returns the failures.
std::vector<ConfigError> make_disks(const Config& config);

/// Doubts about the directories: more than their file systems have, missing, other files beside a
/// cache, a file system that does not last.
std::vector<ConfigError> doubtful_disks(const Config& config);

/// The reason why a cache on a file system of this kind (`statfs.f_type`) would not last; empty
/// when it would.
std::string_view passing_file_system(long kind);

}  // namespace proxy
