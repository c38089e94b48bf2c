#pragma once

#include "proxy/admin/node_status.hpp"

#include <cstdint>
#include <string>

namespace proxy {

inline constexpr const char* kMetricsContentType = "text/plain; version=0.0.4; charset=utf-8";

/// Names that promtool remarks on have new ones, and stay beside these for a release.
enum class OldNames : std::uint8_t { too, no };

/// The body of GET /metrics: Prometheus text format 0.0.4. Names are an interface: they only ever
/// grow. Labels are bounded by our own enums and by the configured peers.
std::string metrics_text(const NodeStatus& status, OldNames old = OldNames::too);

}  // namespace proxy
