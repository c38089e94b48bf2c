#include "proxy/http/reference.hpp"

#include <algorithm>
#include <string>

namespace proxy {

namespace {

std::string_view before_query(std::string_view path) {
    return path.substr(0, path.find('?'));
}

bool reference_has_scheme(std::string_view reference) {
    const auto colon = reference.find(':');
    return colon < reference.find_first_of("/?");
}

}  // namespace

std::string without_dot_segments(std::string_view text) {
    const auto path = before_query(text);
    std::string out;
    for (std::size_t at = 0; at < path.size();) {
        const auto end = std::min(path.find('/', at + 1), path.size());
        const auto segment = path.substr(at, end - at);  // with the slash before it
        const bool up = segment == "/..";
        if (up) out.resize(out.empty() ? 0 : out.rfind('/'));
        if (!up && segment != "/.")
            out.append(segment);
        else if (end == path.size())
            out.push_back('/');
        at = end;
    }
    return out.append(text.substr(path.size()));
}

bool resolve_reference(const CacheKey& base, std::string_view reference, CacheKey& out) {
    reference = reference.substr(0, reference.find('#'));
    std::string without_spaces;
    if (reference.find(' ') != std::string_view::npos) {
        for (const char c : reference)
            c == ' ' ? without_spaces.append("%20") : without_spaces.append(1, c);
        reference = without_spaces;
    }
    std::string uri;
    if (!reference_has_scheme(reference)) uri.append(to_string(base.scheme())).append(":");
    if (!reference_has_scheme(reference) && !reference.starts_with("//")) {
        uri.append("//").append(base.authority());
        if (reference.empty())
            uri.append(base.path());
        else if (reference.front() == '?')
            uri.append(before_query(base.path()));
        else if (reference.front() != '/')
            uri.append(base.path().substr(0, before_query(base.path()).rfind('/') + 1));
    }
    uri.append(reference);

    CacheKey resolved;  // bytes, scheme and authority are checked there
    if (resolved.assign(base.scheme(), boost::beast::http::verb::get, uri, {}) != TargetError::none)
        return false;
    if (!without_spaces.empty() && resolved.authority().find('%') != std::string_view::npos)
        return false;  // the space was in the host
    const auto path = without_dot_segments(resolved.path());
    return out.assign(resolved.scheme(), boost::beast::http::verb::get, path,
                      resolved.authority()) == TargetError::none;
}

bool is_same_origin(const CacheKey& a, const CacheKey& b) {
    return a.scheme() == b.scheme() && a.host() == b.host() && a.port() == b.port();
}

bool resolve_same_origin(const CacheKey& base, std::string_view reference, CacheKey& out) {
    return resolve_reference(base, reference, out) && is_same_origin(base, out);
}

}  // namespace proxy
