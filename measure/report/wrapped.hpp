#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace measure {

/// Words broken into lines of at most `width` bytes, each after `indent` blanks and ended by a
/// newline; a word that is longer has a line of its own. Lines that there are stay apart.
std::string wrapped(std::string_view words, std::size_t indent = 0, std::size_t width = 96);

}  // namespace measure
