#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace proxy {

/// Wall-clock time of HTTP dates: whole seconds, UTC.
using WallTime = std::chrono::sys_seconds;

/// Reads the three forms of RFC 9110 §5.6.7: IMF-fixdate, RFC 850, asctime. It ignores letter case,
/// and is strict about zone, separators, widths and spaces. Any day name fits any date. `now`
/// resolves the two-digit year of the RFC 850 form: more than 50 years ahead means the century
/// before.
std::optional<WallTime> parse_http_date(std::string_view text, WallTime now);

/// Appends an IMF-fixdate; years outside 0-9999 are clamped.
void append_http_date(std::string& out, WallTime time);

/// `2026-12-01T10:00:00Z` (RFC 3339). Empty for a year beyond the range of int.
std::string rfc3339(WallTime time);

}  // namespace proxy
