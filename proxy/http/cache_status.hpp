#pragma once

#include "base/text/short_text.hpp"
#include "proxy/http/fields.hpp"
#include "proxy/http/outcome.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>

namespace proxy {

/// The reason for which a request went forward, in the words of RFC 9211 §2.2.
enum class Forward : std::uint8_t {
    none,     // a hit: the request stayed here
    nowhere,  // an answer of this node's own, as an error: neither `hit` nor `fwd`
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
/// own (a refusal) has neither (RFC 9211 §2.1, §2.2).
///
/// `stored` is written if the whole body was received before this head goes out. A body that still
/// arrives may break off, be purged or outgrow its limits, so its head lacks the parameter, which
/// means that its value is unknown (RFC 9211 §2.5).
struct CacheStatus {
    Forward forward = Forward::none;
    std::optional<std::chrono::seconds> ttl = {};  // negative when stale
    unsigned forward_status = 0;                   // 0: same as the response's, or none
    bool stored = false;
    bool collapsed = false;
    std::string_view detail = {};  // a token where possible
};
inline constexpr CacheStatus kOwnAnswer{.forward = Forward::nowhere};
/// The `detail` of a body in blocks of which this node stores most.
inline constexpr std::string_view kMostlyLocal = "mostly_local";

/// Appends one list member without the field name: `node; hit; ttl=30`, `node; detail=busy` or
/// `node; fwd=stale; fwd-status=304; ...`. The caller puts members of the received response before
/// it. A `node` or `detail` that is no token becomes a string, with `?` for unprintable bytes.
void append_cache_status(base::ShortText& out, std::string_view node, const CacheStatus& status);

/// The reason of a peer's refusal: the `detail` of the last member of its Cache-Status.
Refusal refusal_of(Fields response);

}  // namespace proxy
