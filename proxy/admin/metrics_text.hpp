#pragma once

#include "proxy/admin/metrics_format.hpp"
#include "proxy/admin/node_status.hpp"

#include <string>

namespace proxy {

/// The body of GET /metrics. Names are an interface: new ones come, and old ones stay. Own enums
/// and the configured peers bound the labels. The buckets of durations have exemplars in
/// OpenMetrics: the last request of a sampled trace in each.
std::string metrics_text(const NodeStatus& status, MetricsFormat format = MetricsFormat::text);

}  // namespace proxy
