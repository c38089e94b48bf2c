#pragma once

#include "proxy/http/cache_control.hpp"
#include "proxy/http/http_date.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>

namespace proxy {

/// Seconds in four bytes, for what is kept per object. Never calculate in it (int overflows): the
/// functions below widen first.
using StoredSeconds = std::chrono::duration<std::int32_t>;
StoredSeconds saturate(std::chrono::seconds value);  // to 0..kMaxDelta

/// `heuristic`: nothing explicit, but the status allows a guess (RFC 9111 §4.2.2). Without
/// Last-Modified the guess is 0.
enum class LifetimeSource : std::uint8_t { none, heuristic, expires, max_age, s_maxage };

/// All that reuse of a stored response depends on, computed once when the response arrives
/// (RFC 9111 §4.2) or is updated by a 304.
struct Freshness {
    StoredSeconds lifetime{0};
    StoredSeconds initial_age{0};              // corrected_initial_age, at the response's arrival
    StoredSeconds stale_while_revalidate{-1};  // window beyond lifetime; -1: not given
    StoredSeconds stale_if_error{-1};
    LifetimeSource source = LifetimeSource::none;
    bool always_validate = false;  // no-cache
    bool never_stale = false;  // must-revalidate, proxy-revalidate, s-maxage or no-cache (§4.2.4)
    bool has_validator = false;  // an ETag or Last-Modified to validate with
    bool personal = false;       // see make_personal()
    bool targeted = false;       // judged by CDN-Cache-Control: ResponseDirectives::targeted

    /// Lifetime given by the origin, not guessed.
    bool is_explicit() const { return source > LifetimeSource::heuristic; }
    /// Was it ever fresh? Not with `max-age=0`, an Expires in the past or a guess of 0.
    bool had_lifetime() const { return lifetime > StoredSeconds(0); }
    /// Can such a response answer more than the request that fetched it, without another question
    /// to its origin? Not with `max-age=0`, `no-cache` and what is personal.
    bool serves_others() const { return had_lifetime() && !always_validate; }
};

/// `directives` are those of this response. `request_time` is when the request left (for a
/// validation: that one), `response_time` when the response's head came.
Freshness freshness_of(unsigned status, Fields response, const ResponseDirectives& directives,
                       WallTime request_time, WallTime response_time, const CacheRules& rules);
/// The same, with what the fields say.
inline Freshness freshness_of(unsigned status, Fields response, WallTime request_time,
                              WallTime response_time, const CacheRules& rules) {
    return freshness_of(status, response, response_directives(response, rules), request_time,
                        response_time, rules);
}

/// Does the request say who asks, by Cookie or Authorization?
bool identifies_user(Fields request);

/// Is the answer to this request perhaps for that client alone, though nothing in it says so? It is
/// when the request says who asks (Cookie, Authorization) and the answer has no explicit freshness,
/// by which its origin would have said that it may be shared.
bool may_be_personal(Fields request, const Freshness& freshness);

/// For such an answer: no lifetime counts, and every use has to be validated by the origin first.
void make_personal(Freshness& freshness);

/// Statuses that allow heuristic freshness (RFC 9110 §15.1).
bool heuristically_cacheable(unsigned status);

/// The first member of Age, if it is a number (RFC 9111 §5.1).
std::optional<std::chrono::seconds> received_age(Fields response);

/// `residence`: time since arrival, by a steady clock; negative counts as 0.
inline std::chrono::seconds current_age(const Freshness& f, std::chrono::seconds residence) {
    const auto age =
        std::chrono::seconds(f.initial_age) + std::max(residence, std::chrono::seconds(0));
    return std::min(age, kMaxDelta);
}

/// What is left of the lifetime; negative when stale.
inline std::chrono::seconds time_to_live(const Freshness& f, std::chrono::seconds residence) {
    return std::chrono::seconds(f.lifetime) - current_age(f, residence);
}

/// Fresh while the lifetime is greater than the age (§4.2).
inline bool is_fresh(const Freshness& f, std::chrono::seconds residence) {
    return time_to_live(f, residence) > std::chrono::seconds(0);
}

}  // namespace proxy
