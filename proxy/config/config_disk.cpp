#include "proxy/config/config_disk.hpp"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>

#include "proxy/config/config_values.hpp"
#include "proxy/disk/disk_index.hpp"
#include "proxy/disk/segment_log.hpp"

namespace proxy {
namespace {

/// Empty when it is no absolute path.
std::string shortest_form(const std::string& text) {
    if (!text.starts_with('/') || text.find('\0') != std::string::npos) return {};
    auto form = std::filesystem::path(text).lexically_normal().string();
    if (form.starts_with("//")) form.erase(0, 1);  // which POSIX leaves to the system
    while (form.size() > 1 && form.ends_with('/')) form.pop_back();
    return form;
}

bool is_inside(std::string_view inner, std::string_view outer) {
    return outer == "/" ||
           (inner.size() > outer.size() && inner.starts_with(outer) && inner[outer.size()] == '/');
}

void read_directory(ConfigContext& context, const nlohmann::json& value, const std::string& at,
                    std::vector<DiskConfig>& out,
                    std::vector<std::pair<std::string, std::string>>& seen) {
    ConfigSection in(context, value, at);
    const auto require = [&](std::string_view key, std::string_view what) {
        if (value.is_object() && !in.has(key)) in.fail(key, std::string("missing: ").append(what));
    };
    DiskConfig directory;
    require("path", "write where, such as \"/var/cache/hearsay\"");
    if (const auto text = in.text("path")) {
        directory.path = shortest_form(*text);
        if (directory.path.empty())
            in.fail("path", "must be an absolute path, such as \"/var/cache/hearsay\"");
        for (const auto& [other, whose] : seen) {
            if (directory.path.empty()) break;
            if (directory.path == other)
                in.fail("path",
                        "is that of " + whose + " again; each needs a directory of its own");
            else if (is_inside(directory.path, other))
                in.fail("path", "is inside that of " + whose + "; none may be inside another");
            else if (is_inside(other, directory.path))
                in.fail("path", "has that of " + whose + " inside; none may be inside another");
            else
                continue;
            break;
        }
        if (!directory.path.empty()) seen.emplace_back(directory.path, at);
    }
    require("size", "write how much its files may take, such as \"20GiB\"");
    in.read_size("size", directory.size, kMinDiskBytes, kMaxDiskBytes);
    in.done();
    out.push_back(std::move(directory));
}

}  // namespace

void read_disk(ConfigSection& cache, std::string_view key, std::vector<DiskConfig>& out) {
    std::vector<std::pair<std::string, std::string>> seen;
    if (const auto* value = cache.take(key); value && value->is_array()) {
        for (const auto& [element, at] : cache.elements(key))
            read_directory(cache.context(), *element, at, out, seen);
        if (out.size() > kMaxDiskDirectories)
            cache.fail(key,
                       "must be at most " + std::to_string(kMaxDiskDirectories) + " directories");
    } else if (value && value->is_object()) {
        read_directory(cache.context(), *value, cache.path(key), out, seen);
    } else if (value) {
        cache.fail(key, std::string("must be like { \"path\": \"/var/cache/hearsay\", \"size\": "
                                    "\"20GiB\" }, or a list of these, not ")
                            .append(kind_of(*value)));
    }
}

std::uint64_t slice_from(const CacheConfig& cache) {
    auto most = std::min(cache.slice_from, cache.memory / 2);
    for (const auto& directory : cache.disk) most = std::min(most, body_max_for(directory.size));
    return most;
}

std::string disk_setting(const std::vector<DiskConfig>& disk, std::size_t index) {
    return "$.cache.disk" + (disk.size() > 1 ? '[' + std::to_string(index) + ']' : "");
}

}  // namespace proxy
