#include "proxy/config/config_changes.hpp"
#include "proxy/config/config_json.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "proxy/config/setting.hpp"

namespace proxy {
namespace {

using nlohmann::ordered_json;

/// Whether the row of this setting says so.
bool needs_restart(std::string_view path) {
    const auto table = setting_table();
    return std::any_of(table.begin(), table.end(), [&](const Setting& setting) {
        return setting.effect == Effect::after_restart && path.substr(2) == setting.path;
    });
}

void compare(const ordered_json& from, const ordered_json& to, const std::string& path,
             std::vector<std::string>& changed) {
    if (!from.is_object() || !to.is_object()) {
        if (from != to) changed.push_back(path);
        return;
    }
    for (const auto& [name, value] : from.items()) {
        const auto other = to.find(name);
        compare(value, other == to.end() ? ordered_json() : *other, path + '.' + name, changed);
    }
    for (const auto& [name, value] : to.items())
        if (!from.contains(name)) changed.push_back(path + '.' + name);
}

/// Entries of the index on disk name a directory by its place in the list.
bool same_directories(const CacheConfig& from, const CacheConfig& to) {
    return std::equal(from.disk.begin(), from.disk.end(), to.disk.begin(), to.disk.end(),
                      [](const auto& a, const auto& b) { return a.path == b.path; });
}

}  // namespace

std::vector<std::string> changed_settings(const Config& from, const Config& to) {
    std::vector<std::string> changed;
    compare(config_json(from), config_json(to), "$", changed);
    // The text shows no secrets, so these are compared by hand.
    if (from.cluster && to.cluster && from.cluster->keys != to.cluster->keys &&
        std::find(changed.begin(), changed.end(), "$.cluster.keys") == changed.end())
        changed.push_back("$.cluster.keys");
    if (from.admin && to.admin && from.admin->token != to.admin->token &&
        std::find(changed.begin(), changed.end(), "$.admin.token") == changed.end())
        changed.push_back("$.admin.token");
    const auto has_same_parents = [&] {
        const auto& a = from.forward.parents;
        const auto& b = to.forward.parents;
        return a && b ? a->servers == b->servers : !a && !b;
    };
    if (!has_same_parents() &&
        std::find(changed.begin(), changed.end(), "$.forward.parent") == changed.end())
        changed.push_back("$.forward.parent");
    return changed;
}

std::vector<std::string> logged_changes(const LoadedConfig& from, const LoadedConfig& to,
                                        const std::vector<std::string>& changed) {
    if (from.given.empty() || to.given.empty()) return changed;  // not from texts
    const auto is_same_text = [&](const std::string& path) {
        const auto was = from.given.find(path), is = to.given.find(path);
        if (was == from.given.end() || is == to.given.end())
            return was == from.given.end() && is == to.given.end();
        return was->second == is->second && is->second.find("${") == std::string::npos;
    };
    std::vector<std::string> logged;
    for (const auto& path : changed)
        if (!is_same_text(path) || from.gives_below(path) || to.gives_below(path))
            logged.push_back(path);
    return logged;
}

std::vector<ConfigError> restart_only(const Config& from, const Config& to,
                                      const std::vector<std::string>& changed) {
    std::vector<ConfigError> errors;
    for (const auto& path : changed) {
        if (needs_restart(path))
            errors.push_back({path, "changing it needs a restart"});
        else if (path == "$.cache.disk" && !same_directories(from.cache, to.cache))
            errors.push_back(
                {path, "changing the directories needs a restart; changing their sizes does not"});
        else if (path == "$.cluster.keys" && from.cluster->keys.back() != to.cluster->keys.back())
            errors.push_back(
                {path,
                 "the last key gives every stored key its hash, so changing it needs a "
                 "restart; putting a key in front of it does not"});
    }
    return errors;
}

bool is_within(std::string_view path, std::string_view setting) {
    return path.starts_with(setting) &&
           (path.size() == setting.size() || path[setting.size()] == '.');
}

}  // namespace proxy
