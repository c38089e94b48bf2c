#pragma once

#include <string>
#include <string_view>

namespace measure {

/// Returns text from a log, or the name of a file, in a form that is safe on a terminal. Each byte
/// outside printable ASCII becomes `\xHH`.
std::string printable(std::string_view text);

}  // namespace measure
