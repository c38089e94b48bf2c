#pragma once

#include <memory>
#include <vector>

#include "proxy/access/password_file.hpp"
#include "proxy/config/config.hpp"

namespace proxy {

/// The files that the settings about access name, as read. Requests need them only if one of
/// `forward.authentication`, `forward.destinations` and `clients.limits` is set. Immutable; any
/// thread.
struct AccessRules {
    std::shared_ptr<const PasswordFile> users;  // null: no authentication
};

/// Sets Config::access, and reads the users' file for it. Blocks on the disk.
std::vector<ConfigError> load_access(Config& config);

}  // namespace proxy
