#pragma once

#include <string>
#include <string_view>

#include "protocol/membership/cluster_config.hpp"
#include "proxy/config/config.hpp"

namespace proxy {

/// What the peer layer is told of a configuration. Without a `cluster` it has no peers, but still
/// its own summary.
protocol::ClusterConfig cluster_settings(const Config& config);

/// Where the configuration has a setting of the peer layer, as `$.cluster.gone_after`.
std::string path_of(std::string_view setting);

}  // namespace proxy
