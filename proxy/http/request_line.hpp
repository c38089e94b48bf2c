#pragma once

#include <cstddef>
#include <string_view>

namespace proxy {

/// So many bytes of a refused request line are shown.
inline constexpr std::size_t kShownRequestLine = 1024;

/// What a log shows of a request that was refused before it was understood.
struct ShownRequestLine {
    std::string_view method;  // empty: the line does not begin with a method (RFC 9110 §9.1)
    std::string_view target;  // without the version; the whole line where it has no method
};

/// Takes the first line of `bytes` apart, as far as it came and is shown. Views point into `bytes`,
/// whose characters may be any: whoever writes them escapes them.
ShownRequestLine shown_request_line(std::string_view bytes);

}  // namespace proxy
