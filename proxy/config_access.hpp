#pragma once

#include <vector>

#include "proxy/config.hpp"

namespace proxy {

/// What a valid configuration lets others do that its author may not have meant: for `hearsay
/// check` and the log at the start. One for each thing, with the setting's path.
std::vector<ConfigError> access_doubts(const Config& config);

}  // namespace proxy
