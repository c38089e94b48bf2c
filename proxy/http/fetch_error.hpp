#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "proxy/http/described_enum.hpp"
#include "proxy/http/message_parser.hpp"

namespace proxy {

/// The reason for which a fetch failed.
BOOST_DEFINE_ENUM_CLASS(
    FetchError, none, resolve_failed,
    resolve_timeout,  // no name server answered in time
    connect_failed, connect_timeout,
    tls_failed,  // a failed TLS handshake, or a refused certificate
    head_timeout, body_timeout,
    reset,              // the connection ended before the answer's framing did, or its handshake
    malformed,          // other than HTTP, or with contradictory framing
    busy,               // limits.upstream_connections are open to that place
    no_descriptors,     // the process has reached its limit of descriptors
    not_allowed,        // a private destination, or a target without a site
    own_listener,       // a listener of this node or of a peer, which would be a loop
    origin_down,        // it has failed to answer recently, so this request was held back
    backed_off,         // it wants fewer requests, and a stored response may be given instead
    origin_error,       // a 5xx that a stale response may replace
    changed,            // the origin sent a part of another version: start again
    part_refused,       // the origin refused this client a part
    not_in_parts,       // parts that cannot be blocks: request the client's own range
    parent_refused,     // a parent proxy could not open a tunnel: 5xx
    parent_denied,      // a parent proxy does not allow a tunnel: 403, 407
    parent_tls_failed,  // a failed TLS handshake with a parent proxy, or its refused certificate
    abandoned,          // all waiting clients have left
    stopping)

/// The machine that a fetch asked, as the texts about its failure name it.
enum class UpstreamRole : std::uint8_t {
    origin,
    member,  // one of the servers behind an entry of `origins`
    parent,  // a parent proxy, which reads the requests
    tunnel,  // the origin, through a tunnel of a parent proxy
};

/// The status for the client, and a sentence about the error and the place to look. `host`: the
/// origin's, with the port if the reader cannot know it. `what` specifies FetchError::malformed, if
/// that is known.
unsigned status_of(FetchError error);
std::string explain(FetchError error, std::string_view host, ParseError what = ParseError::ok,
                    UpstreamRole asked = UpstreamRole::origin);
/// The same for FetchError::tls_failed with its reason, such as `hostname mismatch`.
std::string explain_tls(std::string_view host, std::string_view why);

}  // namespace proxy
