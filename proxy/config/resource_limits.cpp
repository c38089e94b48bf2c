#include "proxy/config/resource_limits.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <string>
#include <string_view>

#include "proxy/config/config_values.hpp"

namespace proxy {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kNoLimit = 1ull << 60;  // version 1 writes some 2^63 for none

/// The numbers at the beginning of a small file; `max` ends them.
std::vector<std::int64_t> numbers_in(const fs::path& file) {
    std::ifstream in(file);
    std::vector<std::int64_t> found;
    for (std::int64_t number = 0; in >> number;) found.push_back(number);
    return found;
}

template <class T>
void lower(std::optional<T>& limit, T to) {
    limit = limit ? std::min(*limit, to) : to;
}

void look_at_memory(const fs::path& file, ResourceLimits& limits) {
    const auto found = numbers_in(file);
    if (found.empty() || found[0] <= 0) return;
    if (const auto bytes = static_cast<std::uint64_t>(found[0]); bytes < kNoLimit)
        lower(limits.memory, bytes);
}

void look_at_cpus(std::int64_t quota, std::int64_t period, ResourceLimits& limits) {
    if (quota > 0 && period > 0)
        lower(limits.cpus, static_cast<double>(quota) / static_cast<double>(period));
}

/// One group's folder, of either version.
void look_at(const fs::path& group, ResourceLimits& limits) {
    look_at_memory(group / "memory.max", limits);
    look_at_memory(group / "memory.limit_in_bytes", limits);
    if (const auto found = numbers_in(group / "cpu.max"); found.size() == 2)
        look_at_cpus(found[0], found[1], limits);
    const auto quota = numbers_in(group / "cpu.cfs_quota_us"),
               period = numbers_in(group / "cpu.cfs_period_us");
    if (!quota.empty() && !period.empty()) look_at_cpus(quota[0], period[0], limits);
}

/// A group and all groups around it. The path in /proc may lie outside of the container's view of
/// /sys: then its outermost folder is the container's own.
void look_up_from(const fs::path& hierarchy, const std::string& group, ResourceLimits& limits) {
    auto at = fs::path(group).relative_path();
    for (;;) {
        look_at(hierarchy / at, limits);
        if (at.empty()) return;
        at = at.has_parent_path() ? at.parent_path() : fs::path();
    }
}

bool names(std::string_view controllers, std::string_view one) {
    while (!controllers.empty()) {
        const auto end = std::min(controllers.find(','), controllers.size());
        if (controllers.substr(0, end) == one) return true;
        controllers.remove_prefix(std::min(end + 1, controllers.size()));
    }
    return false;
}

}  // namespace

ResourceLimits resource_limits(const fs::path& root) {
    ResourceLimits limits;
    const auto mounted = root / "sys/fs/cgroup";
    std::ifstream groups(root / "proc/self/cgroup");
    for (std::string line; std::getline(groups, line);) {
        const auto first = line.find(':'), second = line.find(':', first + 1);
        if (first == std::string::npos || second == std::string::npos) continue;
        const auto controllers = line.substr(first + 1, second - first - 1);
        const auto group = line.substr(second + 1);
        if (controllers.empty()) {
            look_up_from(mounted, group, limits);
            continue;
        }
        for (const auto* one : {"memory", "cpu"}) {
            if (!names(controllers, one)) continue;
            look_up_from(mounted / one, group, limits);
            if (controllers != one) look_up_from(mounted / controllers, group, limits);
        }
    }
    cpu_set_t set;
    if (root == "/" && ::sched_getaffinity(0, sizeof set, &set) == 0)
        lower(limits.cpus, static_cast<double>(CPU_COUNT(&set)));
    return limits;
}

std::vector<ConfigError> beyond(const ResourceLimits& limits, const Config& config) {
    std::vector<ConfigError> found;
    const auto wanted = config.cache.memory + config.limits.body_windows;
    if (limits.memory && wanted > *limits.memory)
        found.push_back(
            {"$.cache.memory",
             "and limits.body_windows are " + format_size(wanted) +
                 " together, and the control "
                 "group of this process (container, service) may have " +
                 format_size(*limits.memory) +
                 ": the kernel kills the node when they are full; connections, and the index of a "
                 "disk, need memory besides"});
    if (limits.cpus && config.workers > std::ceil(*limits.cpus)) {
        auto cpus = std::to_string(*limits.cpus);
        cpus.erase(cpus.find_last_not_of('0') + 1);
        if (cpus.ends_with('.')) cpus.pop_back();
        found.push_back({"$.workers", "are " + std::to_string(config.workers) +
                                          ", and this process may use " + cpus +
                                          (cpus == "1" ? " CPU" : " CPUs") +
                                          ": the rest only wait for one another"});
    }
    return found;
}

}  // namespace proxy
