#pragma once

#include <optional>

#include "proxy/config/config.hpp"
#include "proxy/config/config_section.hpp"

namespace proxy {

/// Reads the section `cluster` of the configuration: keys, waits for peers, and who they are.
/// Messages never show a key.
void read_cluster(ConfigContext& context, ConfigSection& root, std::optional<ClusterConfig>& out);
/// Reads the section `summary`.
void read_summary(ConfigSection& root, SummaryConfig& out);

}  // namespace proxy
