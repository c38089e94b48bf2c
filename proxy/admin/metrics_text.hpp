#pragma once

#include "proxy/admin/node_status.hpp"

#include <string>

namespace proxy {

inline constexpr const char* kMetricsContentType = "text/plain; version=0.0.4; charset=utf-8";

/// The body of GET /metrics: Prometheus text format 0.0.4. Names are an interface: they only ever
/// grow. Labels are bounded by our own enums and by the configured peers.
std::string metrics_text(const NodeStatus& status);

}  // namespace proxy
