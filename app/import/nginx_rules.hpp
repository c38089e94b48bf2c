#pragma once

#include <map>
#include <string>

#include "app/import/draft.hpp"
#include "app/import/nginx_scope.hpp"

namespace app {

/// `inactive` of each zone of `proxy_cache_path`, in milliseconds.
using NginxZones = std::map<std::string, std::uint64_t, std::less<>>;

/// The members of a rule for a location that has `proxy_pass`: lifetimes, key, fields. A location
/// without `proxy_cache` bypasses the cache, and so does one whose key or exceptions hearsay cannot
/// express, with a warning.
ImportDraft::Json nginx_rule(const NginxScope& scope, const NginxZones& zones, ImportDraft& draft);

/// Paths of rules for a location. Nothing: it cannot be expressed. An empty list: all paths.
std::optional<std::vector<std::string>> nginx_paths(const NginxLocation& location);

}  // namespace app
