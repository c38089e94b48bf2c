#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "proxy/http/described_enum.hpp"
#include "proxy/http/fields.hpp"

namespace measure {

/// The outcome of a request, as the proxy reports it to its client.
BOOST_DEFINE_FIXED_ENUM_CLASS(ReportedOutcome, std::uint8_t, local_hit, peer_hit, origin_fetch,
                              uncacheable,
                              unknown  ///< the proxy reports no outcome
)
inline constexpr std::size_t kReportedOutcomes = proxy::kEnumSize<ReportedOutcome>;
using proxy::to_string;

/// Reads the outcome from Cache-Status (RFC 9211), whose last member belongs to the proxy that was
/// asked. A peer's copy shows as `fwd=...; detail=PEER_...`. A request that followed another one
/// (`collapsed`, from any source) or was validated (`fwd=stale; fwd-status=304`) counts as a local
/// hit, as in the proxy's own counters. For proxies with the older X-Cache, its last HIT or MISS
/// decides.
ReportedOutcome reported_outcome(proxy::Fields response);

/// Returns true if the proxy reports an answer of its own, neither stored nor forwarded (RFC 9211:
/// neither `hit` nor `fwd`).
bool is_from_proxy_itself(proxy::Fields response);

/// The `detail` of that member of Cache-Status, or an empty string.
std::string_view reported_detail(proxy::Fields response);

/// The name of the cache in the last member of Cache-Status, or an empty string.
std::string_view reporting_node(proxy::Fields response);

}  // namespace measure
