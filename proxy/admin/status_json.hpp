#pragma once

#include "proxy/admin/node_status.hpp"

#include <string>

namespace proxy {

/// The body of GET /api/v1/status. Names are an interface: new ones come, and old ones stay.
std::string status_json(const NodeStatus& status);
/// Its parts `cluster` and `summary`: the bodies of GET /api/v1/peers and /api/v1/summary.
std::string cluster_json(const NodeStatus& status);
std::string summary_json(const NodeStatus& status);

}  // namespace proxy
