#pragma once

#include <string_view>
#include <vector>

#include "proxy/config/config.hpp"
#include "proxy/config/config_section.hpp"

namespace proxy {

/// Reads `disk`, one directory or a list, and `disk_admission` of the section `cache`.
void read_disk(ConfigContext& context, ConfigSection& cache, CacheConfig& out);

/// As messages name the directory of this index: `$.cache.disk`, with `[1]` where there are more.
std::string disk_setting(const std::vector<DiskConfig>& disk, std::size_t index);

/// What is strange about these directories on this machine as it is now: more than their file
/// systems have, not there yet, other files beside a cache, on a file system that does not last.
/// Asks the system.
std::vector<ConfigError> doubtful_disks(const std::vector<DiskConfig>& disk);

/// Why a cache on a file system of this kind (`statfs.f_type`) would not last; empty when it would.
std::string_view passing_file_system(long kind);

}  // namespace proxy
