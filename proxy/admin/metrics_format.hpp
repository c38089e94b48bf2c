#pragma once

#include <cstdint>
#include <string_view>

namespace proxy {

/// The forms of GET /metrics: Prometheus text format 0.0.4, and OpenMetrics 1.0.0.
enum class MetricsFormat : std::uint8_t { text, open_metrics };

/// The form that a scraper wants, by the members of its Accept joined with commas (RFC 9110
/// §12.5.1). OpenMetrics is for those that name it, with a weight that is no lower than that of the
/// text format. Everybody else gets the text format, also for a malformed Accept.
MetricsFormat wanted_format(std::string_view accept);

/// The Content-Type of a form.
std::string_view content_type_of(MetricsFormat format);

}  // namespace proxy
