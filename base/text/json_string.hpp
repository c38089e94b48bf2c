#pragma once

#include <string>
#include <string_view>

namespace base {

/// Appends `text` as a JSON string with its quotes. Control characters are escaped, and other
/// characters stay as they are. A byte outside UTF-8 becomes one of U+EF80 to U+EFFF, a private
/// range, with its value in the last two digits. The bytes of these characters themselves are
/// written likewise, so every text can be restored. Any thread.
void append_json_string(std::string& out, std::string_view text);

}  // namespace base
