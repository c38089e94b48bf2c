#pragma once

#include <string>
#include <string_view>

namespace measure {

/// A line of a log as a report may show it, in at most 80 characters: its shape, with every letter
/// as `x` or `X` and every digit as `9`, but for words that say nothing of a person: methods,
/// schemes, HTTP versions, Squid's results, a status that stands alone, the keys of JSON.
std::string masked(std::string_view line);

}  // namespace measure
