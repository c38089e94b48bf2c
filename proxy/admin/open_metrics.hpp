#pragma once

#include <prometheus/metric_family.h>

#include <cstddef>
#include <string>
#include <vector>

#include "proxy/telemetry/counters.hpp"

namespace proxy {

/// The exemplars of one histogram, by its place among the families.
struct PlacedExemplars {
    std::size_t family = 0, metric = 0;
    const DurationExemplars* exemplars = nullptr;  // bucket by bucket; outlives the call
};

/// The families in OpenMetrics 1.0.0: counters, gauges and histograms. The name of a counter ends
/// in `_total`, which its family goes without. Buckets have the exemplars of `placed`.
std::string open_metrics_text(const std::vector<prometheus::MetricFamily>& families,
                              const std::vector<PlacedExemplars>& placed);

}  // namespace proxy
