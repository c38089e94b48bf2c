#pragma once

#include <string>
#include <string_view>

#include "protocol/membership/peering_config.hpp"
#include "proxy/config/loaded_config.hpp"

namespace proxy {

/// The settings of the peer layer. Without a `cluster` they name no peers, but still this node's
/// own summary.
protocol::PeeringConfig cluster_settings(const LoadedConfig& config);

/// The path of a setting of the peer layer, as `$.cluster.gone_after`.
std::string path_of(std::string_view setting);

}  // namespace proxy
