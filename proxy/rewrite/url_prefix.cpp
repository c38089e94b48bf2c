#include "proxy/rewrite/url_prefix.hpp"

#include <algorithm>

#include "proxy/http/path_readings.hpp"

namespace proxy {
namespace {

bool is_plain_path_byte(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("/-._~").find(c) != std::string_view::npos;
}

}  // namespace

std::string UrlPrefix::text() const {
    return site_text(*this).append(path);
}

std::string_view host_of(const UrlPrefix& prefix) {
    const std::string_view authority = prefix.authority;
    const auto colon = authority.rfind(':');
    return authority.ends_with(']') ? authority : authority.substr(0, colon);
}

std::string site_text(const UrlPrefix& prefix) {
    return std::string(to_string(prefix.scheme)).append("://").append(prefix.authority);
}

std::optional<UrlPrefix> parse_url_prefix(std::string_view url, PrefixFault& fault) {
    CacheKey key;
    fault = PrefixFault::no_url;
    if (key.assign_url(url) != TargetError::none) return std::nullopt;
    auto path = key.path();
    fault = PrefixFault::query;
    if (path.find('?') != std::string_view::npos) return std::nullopt;
    fault = PrefixFault::path;
    std::string scratch;
    if (!std::ranges::all_of(path, is_plain_path_byte) || path_for_rules(path, scratch) != path)
        return std::nullopt;
    if (path.ends_with('/')) path.remove_suffix(1);
    return UrlPrefix{key.scheme(), std::string(key.authority()), std::string(path)};
}

bool covers_path(std::string_view prefix, std::string_view path) {
    if (!path.starts_with(prefix)) return false;
    return prefix.empty() || prefix.ends_with('/') || path.size() == prefix.size() ||
           path[prefix.size()] == '/';
}

bool covers_received_path(std::string_view prefix, std::string_view path) {
    path = path.substr(0, path.find('?'));
    if (prefix.empty()) return path.starts_with('/');
    if (!covers_path(prefix, path)) return false;
    if (has_one_reading(path)) return true;
    const PathReadings readings(path);
    return readings.complete && std::ranges::all_of(readings.forms, [&](const std::string& form) {
               return covers_path(prefix, form);
           });
}

}  // namespace proxy
