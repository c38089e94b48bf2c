#include "proxy/access/access_rules.hpp"

#include <utility>

namespace proxy {

std::vector<ConfigError> load_access(Config& config) {
    const auto& forward = config.forward;
    config.access = nullptr;
    const auto authenticates = forward.enabled && forward.authentication;
    if (!authenticates && forward.destinations.empty() && !config.clients.limits.any()) return {};
    AccessRules rules;
    if (authenticates) {
        auto read = read_users(forward.authentication->users);
        std::vector<ConfigError> errors;
        for (auto& error : read.errors)
            errors.push_back({"$.forward.authentication.users", std::move(error)});
        if (!errors.empty()) return errors;
        rules.users = std::move(read.file);
    }
    config.access = std::make_shared<const AccessRules>(std::move(rules));
    return {};
}

}  // namespace proxy
