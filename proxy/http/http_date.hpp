#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace proxy {

/// Wall-clock time as HTTP speaks of it: whole seconds, UTC.
using WallTime = std::chrono::sys_seconds;

inline constexpr std::size_t kHttpDateBytes = 29;  // "Sun, 06 Nov 1994 08:49:37 GMT"

/// RFC 9110 §5.6.7, all three forms: IMF-fixdate, RFC 850, asctime. Letter case is ignored, nothing
/// else is: any other zone, separator, width or space is no date. The day name must be one, but
/// need not agree with the date. `now` resolves the two-digit year of the RFC 850 form: more than
/// 50 years ahead means the century before.
std::optional<WallTime> parse_http_date(std::string_view text, WallTime now);

/// Appends an IMF-fixdate; years outside 0-9999 are clamped.
void append_http_date(std::string& out, WallTime time);

}  // namespace proxy
