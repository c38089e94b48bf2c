#pragma once

#include "proxy/http/fields.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace proxy {

/// What the RFCs leave to a cache about responses; settings of the section `cache`.
struct CacheRules {
    bool cdn_cache_control = true;    // CDN-Cache-Control counts, RFC 9213; see SitePolicy
    bool store_set_cookie = false;    // true: what has Set-Cookie is stored, and replayed to all
    double heuristic_fraction = 0.1;  // of the time since Last-Modified, RFC 9111 §4.2.2
    std::chrono::nanoseconds heuristic_maximum = std::chrono::hours(24);
    std::chrono::nanoseconds stale_when_unreachable = std::chrono::hours(24);  // 0: never
};

/// The largest span we count with; larger numbers mean this one (RFC 9111 §1.2.2).
inline constexpr std::chrono::seconds kMaxDelta{2147483647};

/// delta-seconds: digits only, leading zeros allowed, saturates at kMaxDelta.
std::optional<std::chrono::seconds> parse_delta_seconds(std::string_view text);

/// A directive whose argument is delta-seconds. `malformed` is not `absent`: a response with
/// malformed freshness counts as stale (RFC 9111 §4.2.1).
struct DeltaDirective {
    enum class State : std::uint8_t { absent, malformed, given };
    State state = State::absent;
    std::chrono::seconds value{0};

    bool present() const { return state != State::absent; }
    bool given() const { return state == State::given; }
};

/// Names that a qualified no-cache or private may list; with more it counts as unqualified.
inline constexpr std::size_t kMaxQualifiedNames = 16;

/// What Cache-Control says on a response (RFC 9111 §5.2.2, RFC 5861, RFC 8246). Of a repeated
/// directive with an argument the first occurrence counts, over all lines. Views point into the
/// fields.
///
/// If there is a usable CDN-Cache-Control, it is read instead and Cache-Control is ignored, whether
/// it allows more or less (RFC 9213 §2.1). As in any structured field, the last occurrence of a
/// directive counts there. It is not usable when it is empty or malformed, or when a directive that
/// we know has a value of the wrong type; unknown directives and parameters are skipped.
struct ResponseDirectives {
    bool no_store = false;
    bool no_cache = false;    // without field names
    bool is_private = false;  // without field names
    bool is_public = false;
    bool must_revalidate = false;
    bool proxy_revalidate = false;
    bool must_understand = false;
    bool no_transform = false;
    bool immutable = false;
    std::string_view no_cache_fields;  // the argument's list of names, else empty
    std::string_view private_fields;
    DeltaDirective max_age, s_maxage, stale_while_revalidate, stale_if_error;
    bool targeted = false;  // read from CDN-Cache-Control, so Expires is ignored too
};
ResponseDirectives response_directives(Fields response, const CacheRules& rules = {});

/// Whether clients may make this cache validate or bypass (RFC 9111 §5.2.1 leaves it open).
enum class ClientDirectives : std::uint8_t {
    obey,
    shield,  // no-cache, max-age, min-fresh and max-stale are ignored, so clients decide neither
             // when origins are asked nor what is too old
};

/// What Cache-Control says on a request (RFC 9111 §5.2.1); Pragma: no-cache only where there is no
/// Cache-Control at all (§5.4). A directive with a malformed argument counts for nothing.
struct RequestDirectives {
    bool no_store = false;
    bool no_cache = false;
    bool only_if_cached = false;
    std::optional<std::chrono::seconds> max_age, min_fresh;
    std::optional<std::chrono::seconds> max_stale;  // kMaxDelta when given without an argument

    /// No directive that bears on reuse.
    bool plain() const { return !no_cache && !max_age && !min_fresh && !max_stale; }
};

/// One pass over the field ids when the request carries neither field.
RequestDirectives request_directives(Fields request,
                                     ClientDirectives setting = ClientDirectives::obey);

}  // namespace proxy
