#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>

namespace app {

/// Returns the first `most` bytes of a text. A text that is cut ends with `..` if it has room, and
/// never in the middle of a number such as 1,234.5k or 10.0.0.7.
std::string cut_text(std::string_view text, std::size_t most);

/// Short forms of names, by name. No two are equal.
using ShortNames = std::map<std::string, std::string, std::less<>>;

/// Makes names fit into `most` bytes, which has to be 4 at least. Names that fit stay as they are.
/// Otherwise all lose the parts, between `-`, `.`, `_` and `:`, with which all of them begin or
/// end, and the ends that do not fit are cut. If two would look alike, all become numbers in their
/// order:
/// `#1`. Pure.
ShortNames short_names(const std::set<std::string>& names, std::size_t most);

}  // namespace app
