#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

#include "proxy/config/config.hpp"

namespace proxy {

/// The machine's resources that this process may take, by its control group (a container, a service
/// with MemoryMax=, a pod with limits) and all groups around it, versions 1 and 2. `memory` is
/// empty without a limit.
struct ResourceLimits {
    std::optional<std::uint64_t> memory;  // bytes; above, the kernel kills
    std::optional<double>
        cpus;  // by time, or by the set of usable ones; at most all of the machine
};

/// `root`: the folder of `proc` and `sys`.
ResourceLimits resource_limits(const std::filesystem::path& root = "/");

/// The settings above `limits`.
std::vector<ConfigError> beyond(const ResourceLimits& limits, const Config& config);

}  // namespace proxy
