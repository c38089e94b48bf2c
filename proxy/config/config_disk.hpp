#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/config/config.hpp"
#include "proxy/config/config_section.hpp"

namespace proxy {

/// Reads `disk` of the section `cache`: one directory or a list.
void read_disk(ConfigSection& cache, std::string_view key, std::vector<DiskConfig>& out);

/// The size above which bodies are stored in blocks: `slice_from`, or less if a body would not fit
/// into half of the memory and on the disk.
std::uint64_t slice_from(const CacheConfig& cache);

/// The name of the directory at this index in messages: `$.cache.disk`, with `[1]` among several.
std::string disk_setting(const std::vector<DiskConfig>& disk, std::size_t index);

}  // namespace proxy
