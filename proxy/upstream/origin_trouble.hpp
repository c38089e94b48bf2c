#pragma once

#include <optional>

#include "proxy/http/fetch_error.hpp"
#include "proxy/http/request_policy.hpp"
#include "proxy/upstream/origin_health.hpp"

namespace proxy {

// What a fetch that failed says of the origin, and of whoever would ask again. All that follows
// from a FetchError stands in one table.

/// Who has ended a fetch that gave no usable answer.
enum class EndedBy : std::uint8_t {
    origin,     // or what leads to it
    this_node,  // a limit of it: connections, descriptors; or it spared the origin the question
    rule,       // of this node, which closes the destination
    nobody,     // who wanted the answer has left, or this node ends
};

struct Failure {
    /// What kind of trouble, for may_serve_stale(): only what shows that the origin cannot be
    /// reached is `unreachable`. An answer that makes no sense, and limits of this node, are errors
    /// like any other. Nothing where a rule closes the destination: that is no trouble of the
    /// origin's.
    std::optional<OriginTrouble> trouble;
    /// What it tells of the origin's health.
    OriginHealth::End end = OriginHealth::End::answered;
    EndedBy by = EndedBy::origin;
    /// Was anything sent out, or at least tried? (RFC 9211 §2.2: `fwd` only if the request went
    /// forward.)
    bool went_forward = true;
    /// Could the same question be answered in a moment? Not where a rule, another version or the
    /// end of this node stand against it, nor a certificate.
    bool may_pass = false;
    /// It is a warning that names the origin. What this node lacks itself, and why TLS failed, is
    /// told by whoever notices.
    bool is_logged = false;
};
/// Of `none`: as of an answer.
const Failure& meaning_of(FetchError error);

inline std::optional<OriginTrouble> trouble_of(FetchError error) {
    return meaning_of(error).trouble;
}
inline bool went_forward(FetchError error) {
    return meaning_of(error).went_forward;
}
inline bool may_pass(FetchError error) {
    return meaning_of(error).may_pass;
}

}  // namespace proxy
