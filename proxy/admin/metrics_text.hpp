#pragma once

#include "proxy/admin/metrics_format.hpp"
#include "proxy/admin/node_status.hpp"

#include <cstdint>
#include <string>

namespace proxy {

/// Names that promtool criticises have successors, and stay for one more release.
enum class OldNames : std::uint8_t { too, no };

/// The body of GET /metrics. Names are an interface: new ones come, and old ones stay. Own enums
/// and the configured peers bound the labels. The buckets of durations have exemplars in
/// OpenMetrics: the last request of a sampled trace in each.
std::string metrics_text(const NodeStatus& status, OldNames old = OldNames::too,
                         MetricsFormat format = MetricsFormat::text);

}  // namespace proxy
