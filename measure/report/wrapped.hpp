#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace measure {

/// Breaks text into lines of at most `width` bytes. Each line starts with `indent` blanks and ends
/// with a newline. A longer word has a line of its own. Existing line ends stay.
std::string wrapped(std::string_view words, std::size_t indent = 0, std::size_t width = 96);

}  // namespace measure
