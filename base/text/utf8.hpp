#pragma once

#include <cstddef>
#include <string_view>

namespace base {

/// Length of the character above U+007F at the start of `text`; 0 for bytes other than UTF-8. RFC
/// 3629 excludes overlong forms, surrogates, and values above U+10FFFF.
std::size_t utf8_character(std::string_view text);

/// Whether the whole text is UTF-8.
bool is_utf8(std::string_view text);

}  // namespace base
