#pragma once

#include <string>

#include "proxy/config/config.hpp"

namespace proxy {

/// The configuration in effect as JSON text, defaults included, keys masked.
std::string effective_config(const Config& config);

}  // namespace proxy
