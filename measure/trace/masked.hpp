#pragma once

#include <string>
#include <string_view>

namespace measure {

/// Returns a line of a log in a form that a report may show: at most 80 characters, every letter as
/// `x` or `X`, every digit as `9`. Words that identify nobody stay readable: methods, schemes, HTTP
/// versions, Squid's results, a status that stands alone, JSON keys. Of a longer JSON line only
/// `method`, `status` and `url` are shown.
std::string masked(std::string_view line);

}  // namespace measure
