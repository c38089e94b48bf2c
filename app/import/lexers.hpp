#pragma once

#include <string_view>

#include "app/import/directive.hpp"

namespace app {

/// Reads a squid.conf: one directive per line, `#` comments, `\` at the end of a line that goes on,
/// and words in quotes. Every text is well-formed. `file` names the text in places.
Lexed lex_squid(std::string_view text, std::string_view file);

/// Reads a file of nginx: `name words;` and `name words { ... }`, at most 32 blocks deep. Blocks of
/// Lua are skipped. `file` names the text in places.
Lexed lex_nginx(std::string_view text, std::string_view file);

}  // namespace app
