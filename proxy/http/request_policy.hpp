#pragma once

#include "proxy/http/described_enum.hpp"
#include "proxy/http/freshness.hpp"

#include <chrono>
#include <cstdint>
#include <string_view>

namespace proxy {

/// Whether a stored response may answer a request without a validation (RFC 9111 §4, §5.2.1).
BOOST_DEFINE_FIXED_ENUM_CLASS(
    Reuse, std::uint8_t,
    fresh,              // yes
    stale_allowed,      // yes: the client's max-stale covers it
    stale,              // no: validate, its lifetime is over (Cache-Status fwd=stale)
    response_no_cache,  // no: validate always (fwd=stale)
    request             // no: the client's no-cache, max-age or min-fresh excludes it (fwd=request)
)
constexpr bool usable(Reuse reuse) {
    return reuse <= Reuse::stale_allowed;
}

/// A response without a lifetime (Freshness::had_lifetime) needs a validation for each use, also
/// under max-stale, because its origin wants one.
Reuse decide_reuse(const RequestDirectives& request, const Freshness& stored,
                   std::chrono::seconds residence);

/// Failures of an origin in which a stale response may replace its answer (RFC 5861 §4, RFC 9111
/// §4.2.4).
enum class OriginTrouble : std::uint8_t {
    unreachable,  // no connection, or it broke off or timed out
    error,        // 500, 502, 503 or 504: the origin's answer, or this node's about a malformed
                  // answer or an own limit
};

/// Whether may_serve_stale() takes this status as a failure.
constexpr bool is_origin_trouble(unsigned status) {
    return status == 500 || status == 502 || status == 503 || status == 504;
}

/// Whether a stale response may replace the answer of a failing origin. must-revalidate and its
/// relatives forbid it, and stale-if-error permits it for a time. Without these it is permitted
/// while the origin is unreachable, within `cache.stale_when_unreachable`, for a response that had
/// a lifetime. A response with `max-age=0` needs stale-if-error; one without explicit freshness and
/// without a guess is excluded. A client with no-cache, max-age or min-fresh gets no stale
/// response, and one with max-stale none that is older.
bool may_serve_stale(const RequestDirectives& request, const Freshness& stored,
                     std::chrono::seconds residence, OriginTrouble trouble,
                     const CacheRules& rules);

/// Whether a response that is stale on arrival, because the fetch took longer than its lifetime,
/// may answer the followers of the fetch (RFC 9111 §4, collapsed requests). The response has to
/// have a lifetime, given or guessed, and the follower's request has to be plain(). A response that
/// needs a validation before each use answers its own request alone (§5.2.2.4).
bool may_answer_followers(const RequestDirectives& request, const Freshness& fetched);

/// Whether a stale response may be served at once while a fetch refreshes it (RFC 5861 §3). A
/// response without a lifetime, explicit or guessed, may not.
bool may_serve_while_revalidating(const RequestDirectives& request, const Freshness& stored,
                                  std::chrono::seconds residence);

}  // namespace proxy
