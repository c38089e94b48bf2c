#pragma once

#include <boost/beast/http/verb.hpp>
#include <cstddef>
#include <cstdint>
#include <ostream>  // Beast's verb.hpp needs it and lacks the include
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

/// The reason for which a request target cannot be fetched. All are errors of the client (400).
enum class TargetError : std::uint8_t {
    none,
    empty_target,
    bad_byte,    // a control character, space or DEL in the target
    bad_form,    // other than origin-form, absolute-form, and `*` for OPTIONS
    bad_scheme,  // absolute-form of a scheme other than http and https
    userinfo,    // RFC 9110 §4.2.4
    empty_host,
    bad_host,
    bad_port,
    relative,  // of assign_url()
    fragment,  // of assign_url()
};
std::string_view to_string(TargetError error);

/// The parts of `host[:port]`, as views into the given text.
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

/// Whether `host` can stand in Host (RFC 9112 §3.2). A comma is allowed in a name, but other
/// parsers take it for a list. It may be empty: the target decides about that.
bool is_valid_host(std::string_view host);

/// host ":" port of CONNECT (RFC 9112 §3.2.3); the port must be there.
TargetError parse_connect_target(std::string_view text, Authority& out);

/// The target URI of a request (RFC 9110 §7.1), which is the primary cache key: scheme, lower-cased
/// host, a port other than the default, then path and query as received. An empty path is "/".
/// Forward and reverse form give the same bytes on every node. `OPTIONS *`, which a client sends to
/// a proxy as `OPTIONS http://host`, has a key of its own.
///
/// A rule may replace the query in the key (replace_query()). Owns its text. One object serves all
/// requests of a connection: assign() allocates only for a target longer than any before. Views
/// last until the next assign().
class CacheKey {
public:
    /// `connection_scheme` applies to origin-form. `host_field` is the value of Host, empty if
    /// absent; absolute-form overrides it (RFC 9112 §3.2.2). After an error the key is empty.
    TargetError assign(Scheme connection_scheme, boost::beast::http::verb method,
                       std::string_view target, std::string_view host_field);

    /// The key of a request for this URL, in absolute-form and without a fragment.
    TargetError assign_url(std::string_view url);

    /// Makes the key empty, and keeps its memory for the next one.
    void clear();
    std::size_t kept_bytes() const { return text_.capacity() + received_path_.capacity(); }
    /// Makes the key empty and frees its memory.
    void give_back();

    /// Gives the key this query, with its `?`, or none. The target for the origin stays as
    /// received.
    void replace_query(std::string_view query);
    /// The key has another query than the target.
    bool has_other_query() const { return !received_path_.empty(); }

    std::string_view uri() const { return text_; }
    Scheme scheme() const { return scheme_; }
    /// Lower-cased; an IPv6 literal keeps its brackets.
    std::string_view host() const { return view(host_begin_, host_end_); }
    /// The same without brackets, for a resolver.
    std::string_view address() const { return Authority{host()}.address(); }
    std::uint16_t port() const { return port_; }
    /// host[:port] of the key.
    std::string_view authority() const { return view(host_begin_, path_begin_); }
    /// scheme://host[:port] of the key.
    std::string_view origin() const { return view(0, path_begin_); }
    /// The origin-form for the request line, as received: path and query, or `*`.
    std::string_view path() const {
        return received_path_.empty() ? view(path_begin_, text_.size())
                                      : std::string_view(received_path_);
    }

private:
    std::string_view view(std::size_t begin, std::size_t end) const {
        return std::string_view(text_).substr(begin, end - begin);
    }

    std::string text_;
    std::string received_path_;  // empty: the key has it
    std::size_t host_begin_ = 0, host_end_ = 0, path_begin_ = 0;
    Scheme scheme_ = Scheme::http;
    std::uint16_t port_ = 0;
};

}  // namespace proxy
