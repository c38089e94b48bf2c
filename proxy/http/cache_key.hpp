#pragma once

#include <boost/beast/http/verb.hpp>
#include <cstddef>
#include <cstdint>
#include <ostream>  // which Beast's verb.hpp needs and does not include
#include <string>
#include <string_view>

namespace proxy {

enum class Scheme : std::uint8_t { http, https };
constexpr std::uint16_t default_port(Scheme scheme) {
    return scheme == Scheme::http ? 80 : 443;
}
constexpr std::string_view to_string(Scheme scheme) {
    return scheme == Scheme::http ? "http" : "https";
}

/// Why a request target names nothing we could fetch. All of them are the client's error (400).
enum class TargetError : std::uint8_t {
    none,
    empty_target,
    bad_byte,    // a control character, space or DEL in the target
    bad_form,    // neither origin-form, absolute-form nor, for OPTIONS, `*`
    bad_scheme,  // absolute-form of something else than http and https
    userinfo,    // RFC 9110 §4.2.4
    empty_host,
    bad_host,
    bad_port,
    relative,  // of assign_url()
    fragment,  // of assign_url()
};
std::string_view to_string(TargetError error);

/// `host[:port]` taken apart; views into the text given.
struct Authority {
    std::string_view host;   // as received; an IPv6 literal keeps its brackets
    std::uint16_t port = 0;  // 0: absent or empty

    /// The host without brackets, for a resolver.
    std::string_view address() const {
        return host.starts_with('[') ? host.substr(1, host.size() - 2) : host;
    }
};

/// uri-host [ ":" port ] of RFC 9110 §4.2, as in Host. User information is refused.
TargetError parse_authority(std::string_view text, Authority& out);

/// host ":" port of CONNECT (RFC 9112 §3.2.3); the port must be there.
TargetError parse_connect_target(std::string_view text, Authority& out);

/// The target URI of a request (RFC 9110 §7.1), which is the primary cache key: scheme, lower-cased
/// host, port unless it is the default, then path and query as opaque bytes. Nothing is decoded or
/// normalised; an empty path is "/". Forward and reverse form give the same bytes, on every node.
/// `OPTIONS *`, which is `OPTIONS http://host` to a proxy, has a key of its own; no other request
/// can have it.
///
/// Owns its text and is meant to be reused for all requests of a connection: assign() allocates
/// only when a target is longer than any before. Views last until the next assign().
class CacheKey {
public:
    /// `connection_scheme` applies to origin-form; `host_field` is the value of Host, empty when
    /// absent, and ignored for absolute-form (RFC 9112 §3.2.2). On error the key is empty.
    TargetError assign(Scheme connection_scheme, boost::beast::http::verb method,
                       std::string_view target, std::string_view host_field);

    /// The key of a request for this URL, whole and as people write it: absolute-form, without a
    /// fragment, as no request has one.
    TargetError assign_url(std::string_view url);

    /// Makes the key empty; keeps its memory.
    void clear();
    std::size_t kept_bytes() const { return text_.capacity(); }
    /// Makes the key empty; keeps nothing.
    void give_back();

    std::string_view uri() const { return text_; }
    Scheme scheme() const { return scheme_; }
    /// Lower-cased; an IPv6 literal keeps its brackets.
    std::string_view host() const { return view(host_begin_, host_end_); }
    /// The same without brackets, for a resolver.
    std::string_view address() const { return Authority{host()}.address(); }
    std::uint16_t port() const { return port_; }
    /// host[:port] as the key has it.
    std::string_view authority() const { return view(host_begin_, path_begin_); }
    /// scheme://host[:port] as the key has it.
    std::string_view origin() const { return view(0, path_begin_); }
    /// The origin-form for the request line: path and query, or `*`.
    std::string_view path() const { return view(path_begin_, text_.size()); }

private:
    std::string_view view(std::size_t begin, std::size_t end) const {
        return std::string_view(text_).substr(begin, end - begin);
    }

    std::string text_;
    std::size_t host_begin_ = 0, host_end_ = 0, path_begin_ = 0;
    Scheme scheme_ = Scheme::http;
    std::uint16_t port_ = 0;
};

}  // namespace proxy
