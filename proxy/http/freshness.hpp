#pragma once

#include "proxy/http/cache_control.hpp"
#include "proxy/http/http_date.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>

namespace proxy {

/// Seconds in four bytes, for members of stored objects. Arithmetic in this type overflows; the
/// functions below widen it first.
using StoredSeconds = std::chrono::duration<std::int32_t>;
StoredSeconds saturate(std::chrono::seconds value);  // to 0..kMaxDelta

/// `heuristic`: the response has no explicit lifetime, and its status allows a guess (RFC 9111
/// §4.2.2). The guess is 0 for a response without Last-Modified. `rule`: an operator's rule states
/// the lifetime.
enum class LifetimeSource : std::uint8_t { none, heuristic, expires, max_age, s_maxage, rule };

/// The properties on which reuse of a stored response depends. They are computed when the response
/// arrives (RFC 9111 §4.2), and again when a 304 updates it.
struct Freshness {
    StoredSeconds lifetime{0};
    StoredSeconds initial_age{0};              // corrected_initial_age, at the response's arrival
    StoredSeconds stale_while_revalidate{-1};  // window beyond lifetime; -1: not given
    StoredSeconds stale_if_error{-1};
    LifetimeSource source = LifetimeSource::none;
    bool always_validate = false;  // no-cache
    bool never_stale = false;  // must-revalidate, proxy-revalidate, s-maxage or no-cache (§4.2.4)
    bool has_validator = false;  // an ETag or Last-Modified
    bool personal = false;       // see make_personal()
    bool each_client =
        false;              // with always_validate: peers may know of it (StoringRule::authorize)
    bool targeted = false;  // judged by CDN-Cache-Control: ResponseDirectives::targeted

    /// The origin or a rule has given the lifetime.
    bool is_explicit() const { return source > LifetimeSource::heuristic; }
    /// Whether the response was ever fresh. False with `max-age=0`, an Expires in the past or a
    /// guess of 0.
    bool had_lifetime() const { return lifetime > StoredSeconds(0); }
    /// Whether the response can answer a second request without a validation. False with
    /// `max-age=0`, with `no-cache`, and for a personal response.
    bool serves_others() const { return had_lifetime() && !always_validate; }
};

/// `directives` are those of the response. `request_time`: the start of the request, or of the
/// validation. `response_time`: the arrival of the response's head.
Freshness freshness_of(unsigned status, Fields response, const ResponseDirectives& directives,
                       WallTime request_time, WallTime response_time, const CacheRules& rules);
/// The same with the directives of the fields.
inline Freshness freshness_of(unsigned status, Fields response, WallTime request_time,
                              WallTime response_time, const CacheRules& rules) {
    return freshness_of(status, response, response_directives(response, rules), request_time,
                        response_time, rules);
}

/// Sets the age of a copy that a peer gave with `fields` after `delay`: Age, which each node
/// states, and the delay alone (RFC 9111 §4.2.3 permits that). Date is by the clock of another
/// machine, so its difference would make copies old where clocks differ.
void count_age_of_copy(Freshness& freshness, Fields fields, std::chrono::seconds delay);

/// Applies the lifetimes of `rule` to a response with `status`. They count from the arrival at the
/// first node of the cluster: where the rule decides, a response of the origin begins with age 0,
/// and one from a peer keeps the age that it has there.
void apply_rule(Freshness& freshness, const StoringRule& rule, unsigned status, bool from_peer);

/// Whether the request identifies its user, by Cookie or a credential (credentials.hpp).
bool identifies_user(Fields request);

/// Whether the response may be meant for this client alone, although its fields allow sharing. That
/// is so if the request identifies its user and the response has no explicit freshness, by which
/// its origin would permit sharing. A rule with `share_authorized` says that no credential makes a
/// response personal, and one of its `key_fields` makes none so either.
bool may_be_personal(Fields request, const Freshness& freshness, const CacheRules& rules);

/// Removes the lifetime of such a response: the origin has to validate every use.
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

/// Makes the response stale, as nobody vouches for it any longer. `residence`: the time since its
/// arrival.
inline void end_lifetime(Freshness& f, std::chrono::seconds residence) {
    f.lifetime = std::min(f.lifetime, saturate(current_age(f, residence)));
}

/// The rest of the lifetime; negative for a stale response.
inline std::chrono::seconds time_to_live(const Freshness& f, std::chrono::seconds residence) {
    return std::chrono::seconds(f.lifetime) - current_age(f, residence);
}

/// Fresh while the lifetime is greater than the age (§4.2).
inline bool is_fresh(const Freshness& f, std::chrono::seconds residence) {
    return time_to_live(f, residence) > std::chrono::seconds(0);
}

}  // namespace proxy
