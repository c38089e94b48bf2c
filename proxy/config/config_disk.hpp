#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "proxy/config/config.hpp"
#include "proxy/config/config_section.hpp"

namespace proxy {

/// Reads `disk` of the section `cache`: one directory or a list.
void read_disk(ConfigContext& context, ConfigSection& cache, CacheConfig& out);

/// Larger bodies are stored in blocks: `slice_from`, or less if all of it is to fit into half of
/// the memory and on the disk.
std::uint64_t slice_from(const CacheConfig& cache);

/// As messages name the directory of this index: `$.cache.disk`, with `[1]` where there are more.
std::string disk_setting(const std::vector<DiskConfig>& disk, std::size_t index);

}  // namespace proxy
