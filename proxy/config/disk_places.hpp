#pragma once

#include <string_view>
#include <vector>

#include "proxy/config/config.hpp"

namespace proxy {

/// The directories of cache.disk as they are on this machine now. All of this asks the system.

/// Those that a node cannot start with, for what they are or whose; a running one goes on without
/// them.
std::vector<ConfigError> unusable_disks(const Config& config);

/// Makes those that are not there, for this user and its group alone; what could not be made.
std::vector<ConfigError> make_disks(const Config& config);

/// What is strange about them: more than their file systems have, not there yet, other files beside
/// a cache, on a file system that does not last.
std::vector<ConfigError> doubtful_disks(const Config& config);

/// Why a cache on a file system of this kind (`statfs.f_type`) would not last; empty when it would.
std::string_view passing_file_system(long kind);

}  // namespace proxy
