#include "proxy/config/config.hpp"

#include <algorithm>
#include <cstdlib>

#include "proxy/http/same_host.hpp"

namespace proxy {

Environment process_environment() {
    return [](const std::string& name) -> std::optional<std::string> {
        const char* value = std::getenv(name.c_str());
        return value ? std::optional<std::string>(value) : std::nullopt;
    };
}

std::string describe(const std::vector<ConfigError>& errors) {
    std::string text;
    for (const auto& error : errors) {
        if (!error.path.empty()) text.append(error.path).append(": ");
        text.append(error.message).append("\n");
    }
    return text;
}

CacheRules rules_for(const Config& config, std::string_view host) {
    auto rules = config.cache.rules;
    if (!match_origin(config.origins, host)) rules.cdn_cache_control = false;
    return rules;
}

const OriginConfig* match_origin(const std::vector<OriginConfig>& origins, std::string_view host) {
    const auto found =
        std::find_if(origins.begin(), origins.end(), [&](const OriginConfig& origin) {
            return origin.host == "*" || same_host(origin.host, host);
        });
    return found == origins.end() ? nullptr : &*found;
}

}  // namespace proxy
