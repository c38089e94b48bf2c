#include "proxy/http/cache_key.hpp"

#include "base/memory/kept_memory.hpp"
#include "base/text/number.hpp"
#include "proxy/http/field_list.hpp"

#include <algorithm>
#include <array>

namespace proxy {

namespace {

using verb = boost::beast::http::verb;

/// The kinds of bytes in a host.
enum : std::uint8_t { kOfHost = 0, kPercent = 1, kForbidden = 2, kColon = 4 };
/// reg-name (RFC 3986 §3.2.2) except `*`, so the key of `OPTIONS *` stays distinct.
constexpr std::array<std::uint8_t, 256> kHostBytes = [] {
    std::array<std::uint8_t, 256> table{};
    for (int c = 0; c < 256; ++c) {
        const auto allowed =
            (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        table[static_cast<std::size_t>(c)] = allowed ? kOfHost : kForbidden;
    }
    for (const char c : std::string_view("-._~!$&'()+,;="))
        table[static_cast<unsigned char>(c)] = kOfHost;
    table['%'] = kPercent;
    table[':'] = kColon;
    return table;
}();

bool is_hex_digit(char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

bool has_good_escapes(std::string_view host) {
    for (auto at = host.find('%'); at != std::string_view::npos; at = host.find('%', at + 1))
        if (host.size() - at < 3 || !is_hex_digit(host[at + 1]) || !is_hex_digit(host[at + 2]))
            return false;
    return true;
}

/// The text inside the brackets of an IPv6 literal. The resolver checks the address.
bool is_ipv6_text(std::string_view text) {
    return text.size() >= 2 && text.find(':') != std::string_view::npos &&
           std::all_of(text.begin(), text.end(),
                       [](char c) { return is_hex_digit(c) || c == ':' || c == '.'; });
}

/// Digits after the colon. An empty port means the default, which is 0 here.
bool parse_port(std::string_view text, std::uint16_t& port) {
    unsigned value = 0;
    for (const char c : text) {
        if (c < '0' || c > '9') return false;
        value = value * 10 + static_cast<unsigned>(c - '0');
        if (value > 65535) return false;
    }
    port = static_cast<std::uint16_t>(value);
    return text.empty() || value != 0;
}

/// Takes `scheme://` off an absolute-form.
TargetError take_scheme(std::string_view& target, Scheme& scheme) {
    const auto colon = target.find(':');
    const auto slash = target.find_first_of("/?#");
    if (colon == std::string_view::npos || colon > slash) return TargetError::bad_form;
    const auto name = target.substr(0, colon);
    const auto rest = target.substr(colon + 1);
    if (iequals(name, "http")) {
        scheme = Scheme::http;
    } else if (iequals(name, "https")) {
        scheme = Scheme::https;
    } else {
        return TargetError::bad_scheme;
    }
    if (!rest.starts_with("//")) return TargetError::bad_form;
    target = rest.substr(2);
    return TargetError::none;
}

/// Limit for names in DNS (RFC 1035 §2.3.4). It also bounds tables of origins by name.
constexpr std::size_t kMaxHostBytes = 255;

TargetError take_authority(std::string_view text, Authority& out) {
    std::string_view port;
    if (text.starts_with('[')) {
        const auto close = text.find(']');
        if (close == std::string_view::npos || !is_ipv6_text(text.substr(1, close - 1))) {
            return TargetError::bad_host;
        }
        out.host = text.substr(0, close + 1);
        port = text.substr(close + 1);
        if (!port.empty() && port.front() != ':') return TargetError::bad_host;
    } else {
        std::uint8_t kinds = 0;
        std::size_t end = 0;
        for (; end < text.size(); ++end) {
            const auto kind = kHostBytes[static_cast<unsigned char>(text[end])];
            if (kind == kColon) break;
            kinds |= kind;
        }
        out.host = text.substr(0, end);
        port = text.substr(end);
        if (out.host.empty()) return TargetError::empty_host;
        if (out.host.size() > kMaxHostBytes || (kinds & kForbidden) != 0 ||
            ((kinds & kPercent) != 0 && !has_good_escapes(out.host)))
            return TargetError::bad_host;
    }
    out.port = 0;
    if (!port.empty() && !parse_port(port.substr(1), out.port)) return TargetError::bad_port;
    return TargetError::none;
}

}  // namespace

TargetError parse_authority(std::string_view text, Authority& out) {
    const auto error = take_authority(text, out);
    // Every part of an authority excludes `@`, so a text with one is already wrong.
    const auto user = error != TargetError::none && text.find('@') != std::string_view::npos;
    return user ? TargetError::userinfo : error;
}

bool is_valid_host(std::string_view host) {
    Authority unused;
    return host.empty() || (parse_authority(host, unused) == TargetError::none &&
                            host.find(',') == std::string_view::npos);
}

TargetError parse_connect_target(std::string_view text, Authority& out) {
    const auto error = parse_authority(text, out);
    if (error == TargetError::none && out.port == 0) return TargetError::bad_port;
    return error;
}

TargetError CacheKey::assign(Scheme connection_scheme, verb method, std::string_view target,
                             std::string_view host_field) {
    clear();
    scheme_ = connection_scheme;
    if (target.empty()) return TargetError::empty_target;
    // Targets are opaque. Every byte that cannot end a request line or a log line is accepted,
    // because real requests contain all of them.
    if (has_control(target, ' ' + 1)) return TargetError::bad_byte;

    auto path = target;
    auto authority_text = host_field;
    bool asterisk = method == verb::options && target == "*";
    if (!asterisk && target.front() != '/') {
        if (const auto error = take_scheme(target, scheme_); error != TargetError::none) {
            return error;
        }
        authority_text = target.substr(0, target.find_first_of("/?#"));
        path = target.substr(authority_text.size());
        // RFC 9112 §3.2.4: the server as a whole, in the form for proxies.
        asterisk = method == verb::options && path.empty();
        if (asterisk) path = "*";
    }
    Authority authority;
    if (const auto error = parse_authority(authority_text, authority); error != TargetError::none) {
        return error;
    }
    port_ = authority.port != 0 ? authority.port : default_port(scheme_);

    constexpr std::size_t kAround = 16;  // scheme and port
    text_.reserve(authority_text.size() + path.size() + kAround);
    text_.append(to_string(scheme_)).append("://");
    host_begin_ = text_.size();
    append_lower(text_, authority.host);
    host_end_ = text_.size();
    if (port_ != default_port(scheme_)) {
        text_.push_back(':');
        base::append_number(text_, port_);
    }
    path_begin_ = text_.size();
    if (!asterisk && !path.starts_with('/')) text_.push_back('/');
    text_.append(path);
    return TargetError::none;
}

TargetError CacheKey::assign_url(std::string_view url) {
    clear();
    if (url.starts_with('/')) return TargetError::relative;
    if (url.find('#') != std::string_view::npos) return TargetError::fragment;
    return assign(Scheme::http, verb::get, url, {});
}

void CacheKey::replace_query(std::string_view query) {
    const auto whole = std::string(path());
    const auto path_end = std::min(whole.find('?'), whole.size());
    if (std::string_view(whole).substr(path_end) == query) return;
    text_.resize(path_begin_ + path_end);
    text_.append(query);
    received_path_ = whole;
}

void CacheKey::give_back() {
    base::give_back(text_);
    base::give_back(received_path_);
    clear();
}

void CacheKey::clear() {
    text_.clear();
    received_path_.clear();
    host_begin_ = host_end_ = path_begin_ = 0;
    port_ = 0;
}

std::string_view to_string(TargetError error) {
    switch (error) {
        case TargetError::none:
            return "none";
        case TargetError::empty_target:
            return "empty target";
        case TargetError::bad_byte:
            return "control character or space in the target";
        case TargetError::bad_form:
            return "target is neither a path nor a URI";
        case TargetError::bad_scheme:
            return "scheme is not http or https";
        case TargetError::userinfo:
            return "user information in the host";
        case TargetError::empty_host:
            return "no host";
        case TargetError::bad_host:
            return "malformed host";
        case TargetError::bad_port:
            return "malformed port";
        case TargetError::relative:
            return "a path alone";
        case TargetError::fragment:
            return "has a fragment";
    }
    return "?";
}

}  // namespace proxy
