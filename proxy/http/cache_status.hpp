#pragma once

#include "proxy/http/fields.hpp"
#include "proxy/http/outcome.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace proxy {

/// Why a request went forward, in the words of RFC 9211 §2.2.
enum class Forward : std::uint8_t {
    none,     // it did not: a hit
    nowhere,  // this node answered by itself, as with an error: neither `hit` nor `fwd`
    bypass,
    method,
    uri_miss,
    vary_miss,
    miss,
    request,
    stale,
    partial,
};
std::string_view to_string(Forward forward);

/// One node's member of Cache-Status. `hit` and `fwd` exclude each other; an answer of this node's
/// own (a refusal) has neither, as nothing stored answered and nothing went forward (RFC 9211 §2.1,
/// §2.2).
///
/// `stored` is written only if the whole body was received before this head goes out. Otherwise the
/// body may still break off, be purged or outgrow its limits, so nothing is said: a parameter that
/// is left out means nothing (RFC 9211 §2.5).
struct CacheStatus {
    Forward forward = Forward::none;
    std::optional<std::chrono::seconds> ttl = {};  // negative when stale
    unsigned forward_status = 0;                   // 0: same as the response's, or none
    bool stored = false;
    bool collapsed = false;
    std::string_view detail = {};  // a token where possible
};
inline constexpr CacheStatus kOwnAnswer{.forward = Forward::nowhere};
/// As `detail`, for a body stored in blocks: most of them are here, some are fetched or were not
/// looked for.
inline constexpr std::string_view kMostlyLocal = "mostly_local";

/// Appends `node; hit; ttl=30`, `node; detail=busy` or `node; fwd=stale; fwd-status=304; ...`: one
/// list member, without the field name. Members that came with the response stay before it, on
/// their own line or after
/// ", ". `node` and `detail` that are no tokens are written as strings, unprintable bytes as `?`.
void append_cache_status(std::string& out, std::string_view node, const CacheStatus& status);

/// Why a peer refused: the `detail` of the last member of its Cache-Status.
Refusal refusal_of(Fields response);

}  // namespace proxy
