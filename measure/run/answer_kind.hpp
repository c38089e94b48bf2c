#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "proxy/http/fields.hpp"

namespace measure {

/// Where an answer came from, as far as its client can tell.
enum class AnswerKind : std::uint8_t {
    local_hit,
    peer_hit,
    origin_fetch,
    uncacheable,
    unknown,  ///< the proxy does not say
};
inline constexpr std::size_t kAnswerKinds = 5;
std::string_view to_string(AnswerKind kind);

/// Reads it from Cache-Status (RFC 9211): the last member is that of the proxy that was asked. A
/// peer's copy shows as `fwd=...; detail=PEER_...`. A request that followed another one's
/// (`collapsed`, whatever the other one's source) or was validated (`fwd=stale; fwd-status=304`)
/// counts as a local hit, as it does in the proxy's own counters. Proxies that only have the older
/// X-Cache are read by its last HIT or MISS.
AnswerKind answer_kind(proxy::Fields response);

/// Whether the proxy that was asked says that it answered itself, with nothing stored and nobody
/// asked (RFC 9211: neither `hit` nor `fwd`).
bool is_proxys_own(proxy::Fields response);

/// Its `detail` of Cache-Status; empty when there is none.
std::string_view answer_detail(proxy::Fields response);

/// The name of the cache that was asked, as the last member of Cache-Status gives it; empty when
/// there is none.
std::string_view answering_node(proxy::Fields response);

}  // namespace measure
