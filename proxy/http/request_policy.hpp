#pragma once

#include "proxy/http/freshness.hpp"

#include <chrono>
#include <cstdint>
#include <string_view>

namespace proxy {

/// May this stored response answer this request as it is (RFC 9111 §4, §5.2.1)?
enum class Reuse : std::uint8_t {
    fresh,              // yes
    stale_allowed,      // yes: the client's max-stale covers it
    stale,              // no: validate, its lifetime is over (Cache-Status fwd=stale)
    response_no_cache,  // no: validate always (fwd=stale)
    request,  // no: the client's no-cache, max-age or min-fresh asks for more (fwd=request)
};
constexpr bool usable(Reuse reuse) {
    return reuse <= Reuse::stale_allowed;
}
std::string_view to_string(Reuse reuse);

/// What never had a lifetime (Freshness::had_lifetime) is only used after validation, whatever
/// max-stale says: its origin wants to be asked each time.
Reuse decide_reuse(const RequestDirectives& request, const Freshness& stored,
                   std::chrono::seconds residence);

/// What went wrong at the origin when a stale response might stand in (RFC 5861 §4, RFC 9111
/// §4.2.4).
enum class OriginTrouble : std::uint8_t {
    unreachable,  // no connection, or it broke off or timed out
    error,        // what ends in 500, 502, 503 or 504: its own answer, one that makes no sense, or
                  // a limit of this node
};

/// Trouble that a status means, for may_serve_stale(); false for all other statuses.
constexpr bool is_origin_trouble(unsigned status) {
    return status == 500 || status == 502 || status == 503 || status == 504;
}

/// May a stale response stand in for the origin? Never with must-revalidate and its kin; within
/// stale-if-error when given; without it only when the origin is unreachable, within
/// `rules.stale_when_unreachable`, and only what had a lifetime: for what never had one
/// (`max-age=0`) its origin alone can allow it, and where it said nothing of freshness at all
/// nobody can. A client that asks for validation (no-cache, max-age, min-fresh) is not told old
/// news, nor one with max-stale older news than that.
bool may_serve_stale(const RequestDirectives& request, const Freshness& stored,
                     std::chrono::seconds residence, OriginTrouble trouble,
                     const CacheRules& rules);

/// May a response that is stale when it comes, as the fetch took longer than its lifetime, answer
/// the requests that were waiting for it (RFC 9111 §4: the requests that were collapsed into one)?
/// Only where its origin has said that anybody may have it for a while, and to a client that asks
/// for no more. What the origin wants validated before each use is for its own request alone
/// (§5.2.2.4).
bool may_answer_those_waiting(const RequestDirectives& request, const Freshness& fetched);

/// May a stale response be served at once while it is refreshed (RFC 5861 §3)? Not one of which
/// its origin said no lifetime and none could be guessed.
bool may_serve_while_revalidating(const RequestDirectives& request, const Freshness& stored,
                                  std::chrono::seconds residence);

}  // namespace proxy
