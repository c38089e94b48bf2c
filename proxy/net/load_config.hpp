#pragma once

#include <filesystem>

#include "proxy/config/config.hpp"
#include "proxy/config/parse_config.hpp"

namespace proxy {

/// All that a node needs before it opens its ports: read_config(), with the certificates, keys and
/// CAs that the file names (Config::tls_contexts), and the other files and folders looked for.
ConfigResult load_config(const std::filesystem::path& file,
                         const Environment& environment = process_environment());

}  // namespace proxy
