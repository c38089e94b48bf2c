#pragma once

#include <optional>

#include "proxy/http/fetch_error.hpp"
#include "proxy/http/request_policy.hpp"
#include "proxy/upstream/origin_health.hpp"

namespace proxy {

// The consequences of a failed fetch, for the origin and for the next request. One table has them
// for every FetchError.

/// The party that ended a fetch without a usable response.
enum class FailureSide : std::uint8_t {
    origin,     // or the way to it
    this_node,  // a limit of it (connections, descriptors), or its OriginHealth
    rule,       // of this node: the destination is closed
    nobody,     // the client has left, or this node ends
};

/// The consequences of one FetchError. A constant of the table; any thread may read it.
struct ErrorMeaning {
    /// The trouble for may_serve_stale(). Only proof that the origin cannot be reached makes
    /// `unreachable`. A senseless response and limits of this node are ordinary errors. A closed
    /// destination is no trouble of the origin.
    std::optional<OriginTrouble> trouble;
    /// The consequence for the origin's health.
    OriginHealth::End end = OriginHealth::End::answered;
    FailureSide by = FailureSide::origin;
    /// The request went out, or the node tried to send it (RFC 9211 §2.2: `fwd` states a request
    /// that went forward).
    bool went_forward = true;
    /// The same request may succeed in a moment. Rules, other versions, certificates and the end of
    /// this node last longer.
    bool may_pass = false;
    /// The failure is a warning that names the origin. Limits of this node and TLS failures are
    /// logged at their place.
    bool is_logged = false;
};
/// The row of `error`. That of `none` means the same as a response.
const ErrorMeaning& consequences_of(FetchError error);

inline std::optional<OriginTrouble> trouble_of(FetchError error) {
    return consequences_of(error).trouble;
}
inline bool went_forward(FetchError error) {
    return consequences_of(error).went_forward;
}
inline bool may_pass(FetchError error) {
    return consequences_of(error).may_pass;
}

}  // namespace proxy
