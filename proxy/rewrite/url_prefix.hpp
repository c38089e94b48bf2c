#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "proxy/http/cache_key.hpp"

namespace proxy {

/// `http[s]://host[:port][/path]`: the URLs at or below it. Plain data.
struct UrlPrefix {
    Scheme scheme = Scheme::http;
    std::string authority;  // lower case, without the default port
    std::string path;       // empty, or `/a/b` without a slash at its end

    std::string text() const;
    bool operator==(const UrlPrefix&) const = default;
};

/// The host of a prefix, without the port.
std::string_view host_of(const UrlPrefix& prefix);

/// The URL of a prefix without its path, as Origin has it: `http://mirror.example`.
std::string site_text(const UrlPrefix& prefix);

/// What is wrong with the text of a prefix.
enum class PrefixFault {
    no_url,  // no http or https URL, or one with user information or a fragment
    query,
    path,  // bytes other than letters, digits, `/`, `-`, `.`, `_`, `~`; or empty and dot segments
};

/// Reads a prefix. A slash at its end is left out. `fault`: the reason for no result.
std::optional<UrlPrefix> parse_url_prefix(std::string_view url, PrefixFault& fault);

/// `/api` and `/api/` cover `/api/x`, and `/api` also covers itself. An empty prefix covers every
/// path.
bool covers_path(std::string_view prefix, std::string_view path);

/// True if `path` lies at or below `prefix` as received, and also as an origin may read it: with
/// escapes decoded and dot segments resolved. A query in `path` is left out.
bool covers_received_path(std::string_view prefix, std::string_view path);

}  // namespace proxy
