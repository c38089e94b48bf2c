#pragma once

#include <string>
#include <string_view>

namespace measure {

/// Text from a log, or a file's name, as a terminal may show it: what is no printable ASCII becomes
/// `\xHH`, and so nothing in it is an order to the terminal.
std::string printable(std::string_view text);

}  // namespace measure
