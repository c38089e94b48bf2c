#include "proxy/http/request_line.hpp"

#include <algorithm>

#include "proxy/http/field_list.hpp"

namespace proxy {

ShownRequestLine shown_request_line(std::string_view bytes) {
    // RFC 9112 §2.2: empty lines before a request are skipped.
    bytes.remove_prefix(std::min(bytes.find_first_not_of("\r\n"), bytes.size()));
    auto line = bytes.substr(0, bytes.find_first_of("\r\n"));
    const auto space = line.find(' ');
    const auto method = line.substr(0, space);
    if (method.size() > kShownRequestLine || !is_token(method))
        return {{}, line.substr(0, kShownRequestLine)};
    if (space == std::string_view::npos) return {method, {}};
    if (const auto version = line.rfind(" HTTP/"); version != std::string_view::npos)
        line = line.substr(0, std::max(version, space + 1));
    return {method, line.substr(space + 1, kShownRequestLine - method.size())};
}

}  // namespace proxy
