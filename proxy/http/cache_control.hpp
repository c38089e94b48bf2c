#pragma once

#include "proxy/http/fields.hpp"

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace proxy {

struct StoringRule;

/// Choices that the RFCs leave to a cache: settings of the section `cache`.
struct CacheRules {
    bool cdn_cache_control = true;    // CDN-Cache-Control counts, RFC 9213; see SitePolicy
    bool store_set_cookie = false;    // true: stores Set-Cookie and replays it to all clients
    double heuristic_fraction = 0.1;  // of the time since Last-Modified, RFC 9111 §4.2.2
    std::chrono::nanoseconds heuristic_maximum = std::chrono::hours(24);
    std::chrono::nanoseconds stale_when_unreachable = std::chrono::hours(24);  // 0: never
    const StoringRule* rule = nullptr;  // of `rules` for this request, which must outlive this

    /// Set-Cookie is stored: the settings want it, and no rule ignores it.
    bool keeps_cookies() const;
};

/// The largest span; larger numbers count as this one (RFC 9111 §1.2.2).
inline constexpr std::chrono::seconds kMaxDelta{2147483647};

/// delta-seconds: digits only, leading zeros allowed, saturates at kMaxDelta.
std::optional<std::chrono::seconds> parse_delta_seconds(std::string_view text);

/// A directive whose argument is delta-seconds. A response with a `malformed` freshness counts as
/// stale (RFC 9111 §4.2.1); one with an `absent` freshness may have a heuristic lifetime.
struct DeltaDirective {
    enum class State : std::uint8_t { absent, malformed, given };
    State state = State::absent;
    std::chrono::seconds value{0};

    bool present() const { return state != State::absent; }
    bool given() const { return state == State::given; }
};

/// stale-while-revalidate and stale-if-error (RFC 5861).
struct StaleDirectives {
    DeltaDirective while_revalidate, if_error;
};

/// Names in a qualified no-cache or private. A directive with more counts as unqualified.
inline constexpr std::size_t kMaxQualifiedNames = 16;

/// Cache-Control of a response (RFC 9111 §5.2.2, RFC 5861, RFC 8246). The first occurrence of a
/// repeated directive with an argument counts, over all lines. Views point into the fields.
///
/// A usable CDN-Cache-Control replaces Cache-Control as a whole (RFC 9213 §2.1). As in any
/// structured field, the last occurrence of a directive counts there. An empty or malformed field
/// is unusable, and so is one with a known directive of the wrong type. Unknown directives and
/// parameters are skipped.
///
/// Statements that CacheRules::rule ignores are left out: `no-store`, and `private` and `no-cache`
/// without field names.
struct ResponseDirectives {
    /// The lists of field names of no-cache and of private.
    std::array<std::string_view, 2> withheld() const { return {no_cache_fields, private_fields}; }

    bool no_store = false;
    bool no_cache = false;    // without field names
    bool is_private = false;  // without field names
    bool is_public = false;
    bool must_revalidate = false;
    bool proxy_revalidate = false;
    bool must_understand = false;
    bool no_transform = false;
    bool immutable = false;
    std::string_view no_cache_fields;  // names in the argument, else empty
    std::string_view private_fields;
    DeltaDirective max_age, s_maxage;
    StaleDirectives stale;
    bool targeted = false;  // read from CDN-Cache-Control, so Expires is ignored too
};
ResponseDirectives response_directives(Fields response, const CacheRules& rules = {});

/// Effect of a client's Cache-Control on this cache (RFC 9111 §5.2.1 leaves it open).
enum class ClientDirectives : std::uint8_t {
    obey,
    shield,  // ignores no-cache, max-age, min-fresh and max-stale: clients cannot cause a
             // validation, and cannot choose an age
};

/// Cache-Control of a request (RFC 9111 §5.2.1). Pragma: no-cache counts in a request without
/// Cache-Control (§5.4). A directive with a malformed argument is ignored.
struct RequestDirectives {
    bool no_store = false;
    bool no_cache = false;
    bool only_if_cached = false;
    std::optional<std::chrono::seconds> max_age, min_fresh;
    std::optional<std::chrono::seconds> max_stale;  // kMaxDelta when given without an argument

    /// The request has no directive about reuse.
    bool plain() const { return !no_cache && !max_age && !min_fresh && !max_stale; }
};

/// Costs one pass over the field ids if the request has neither field.
RequestDirectives request_directives(Fields request,
                                     ClientDirectives setting = ClientDirectives::obey);

}  // namespace proxy
