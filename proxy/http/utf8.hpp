#pragma once

#include <cstddef>
#include <string_view>

namespace proxy {

/// Length of the character above U+007F that `text` begins with; 0 when that is no UTF-8 (RFC 3629:
/// neither longer than needed, nor a surrogate, nor above U+10FFFF).
std::size_t utf8_character(std::string_view text);

/// Is all of it UTF-8?
bool is_utf8(std::string_view text);

}  // namespace proxy
