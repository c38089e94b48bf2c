#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

#include "proxy/config/config.hpp"

namespace proxy {

/// What this process may take of its machine, by the control group that it is in (a container, a
/// service with MemoryMax=, a pod with limits), versions 1 and 2, and all groups around it; nothing
/// where no limit is set.
struct ResourceLimits {
    std::optional<std::uint64_t> memory;  // bytes; above, the kernel kills
    std::optional<double> cpus;           // by time, or by the set of those that may be used
};

/// `root`: where `proc` and `sys` are.
ResourceLimits resource_limits(const std::filesystem::path& root = "/");

/// What of the configuration is more than `limits` allow.
std::vector<ConfigError> beyond(const ResourceLimits& limits, const Config& config);

}  // namespace proxy
