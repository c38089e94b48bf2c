#pragma once

#include <optional>

#include "proxy/http/fetch_error.hpp"
#include "proxy/http/request_policy.hpp"

namespace proxy {

// What a fetch that failed says of the origin.

/// What kind of trouble, for may_serve_stale(): only what shows that the origin cannot be reached
/// is `unreachable`. An answer that makes no sense, and limits of this node (connections,
/// descriptors, its end), are errors like any other. Nothing where a rule of this node closes the
/// destination: that is no trouble of the origin's.
std::optional<OriginTrouble> trouble_of(FetchError error);

/// Was anything sent out, or at least tried? Not where a rule or limit of this node forbade it
/// (RFC 9211 §2.2: `fwd` only if the request went forward).
bool went_forward(FetchError error);

}  // namespace proxy
