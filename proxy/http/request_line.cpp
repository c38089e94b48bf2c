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

std::string_view without_userinfo(std::string_view target, std::string& scratch) {
    constexpr std::string_view kBeforeAuthority = "://";
    if (target.starts_with('/')) return target;
    const auto scheme = target.find(kBeforeAuthority);
    const auto begin = scheme == std::string_view::npos ? 0 : scheme + kBeforeAuthority.size();
    const auto rest = target.substr(begin);
    const auto at = rest.substr(0, rest.find_first_of("/?#")).rfind('@');
    if (at == std::string_view::npos) return target;
    scratch.assign(target.substr(0, begin)).append(rest.substr(at + 1));
    return scratch;
}

}  // namespace proxy
