#include "proxy/http/request_policy.hpp"

namespace proxy {

namespace {

using std::chrono::seconds;

/// max-age=0 demands a validation, also for a response of this second.
bool older_than_wanted(const RequestDirectives& request, const Freshness& stored,
                       seconds residence) {
    if (!request.max_age) return false;
    return *request.max_age == seconds(0) || current_age(stored, residence) > *request.max_age;
}

/// Whether the client demands more than a fresh response.
bool asks_for_more(const RequestDirectives& request, const Freshness& stored, seconds residence) {
    if (request.no_cache) return true;
    if (older_than_wanted(request, stored, residence)) return true;
    return request.min_fresh && time_to_live(stored, residence) < *request.min_fresh;
}

/// The response has neither an explicit nor a guessed lifetime, so it needs a validation.
bool has_no_freshness(const Freshness& stored) {
    return !stored.is_explicit() && !stored.had_lifetime();
}

/// Time since the end of a response's lifetime.
seconds staleness(const Freshness& stored, seconds residence) {
    return std::max(-time_to_live(stored, residence), seconds(0));
}

}  // namespace

Reuse decide_reuse(const RequestDirectives& request, const Freshness& stored, seconds residence) {
    if (stored.always_validate) return Reuse::response_no_cache;
    const bool fresh = is_fresh(stored, residence);
    if (request.plain()) return fresh ? Reuse::fresh : Reuse::stale;

    if (fresh) return asks_for_more(request, stored, residence) ? Reuse::request : Reuse::fresh;
    if (stored.never_stale || !stored.had_lifetime()) return Reuse::stale;
    if (!request.max_stale || request.no_cache || request.min_fresh) return Reuse::stale;
    if (older_than_wanted(request, stored, residence)) return Reuse::stale;
    return staleness(stored, residence) <= *request.max_stale ? Reuse::stale_allowed : Reuse::stale;
}

bool may_serve_stale(const RequestDirectives& request, const Freshness& stored, seconds residence,
                     OriginTrouble trouble, const CacheRules& rules) {
    if (stored.never_stale || has_no_freshness(stored)) return false;
    if (request.no_cache || request.max_age || request.min_fresh) return false;
    const auto by = staleness(stored, residence);
    if (request.max_stale && by > *request.max_stale) return false;
    if (stored.stale_if_error >= StoredSeconds(0)) return by <= stored.stale_if_error;
    return trouble == OriginTrouble::unreachable && stored.had_lifetime() &&
           rules.stale_when_unreachable > std::chrono::nanoseconds(0) &&
           by <= rules.stale_when_unreachable;
}

bool may_answer_followers(const RequestDirectives& request, const Freshness& fetched) {
    return request.plain() && fetched.serves_others();
}

bool may_serve_while_revalidating(const RequestDirectives& request, const Freshness& stored,
                                  seconds residence) {
    if (stored.never_stale || has_no_freshness(stored) || !request.plain()) return false;
    return stored.stale_while_revalidate >= StoredSeconds(0) &&
           staleness(stored, residence) <= stored.stale_while_revalidate;
}

}  // namespace proxy
