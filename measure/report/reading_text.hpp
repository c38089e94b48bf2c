#pragma once

#include <string>
#include <vector>

#include "measure/trace/reading.hpp"

namespace measure {

/// Returns the lines of a report about its log: the lines read, the lines left out for each reason
/// with indented examples, and the lines out of order. Empty if every line was taken in order.
std::vector<std::string> lines_about(const Reading& reading);
/// The same as whole lines of at most 100 columns.
std::string reading_text(const Reading& reading);

}  // namespace measure
