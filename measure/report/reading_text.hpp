#pragma once

#include <string>
#include <vector>

#include "measure/trace/reading.hpp"

namespace measure {

/// What a report says of the log that it is about, a line each: what was read, how many lines were
/// left out for which reason, with examples (indented), and how many came after a later one. None
/// when nothing was left out, and all is in order.
std::vector<std::string> lines_about(const Reading& reading);
/// The same as whole lines of at most 100 columns.
std::string reading_text(const Reading& reading);

}  // namespace measure
