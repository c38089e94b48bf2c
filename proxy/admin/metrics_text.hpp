#pragma once

#include "proxy/admin/node_status.hpp"

#include <cstdint>
#include <string>

namespace proxy {

inline constexpr const char* kMetricsContentType = "text/plain; version=0.0.4; charset=utf-8";

/// Names that promtool criticises have successors, and stay for one more release.
enum class OldNames : std::uint8_t { too, no };

/// The body of GET /metrics, in Prometheus text format 0.0.4. Names are an interface: new ones
/// come, and old ones stay. Own enums and the configured peers bound the labels.
std::string metrics_text(const NodeStatus& status, OldNames old = OldNames::too);

}  // namespace proxy
