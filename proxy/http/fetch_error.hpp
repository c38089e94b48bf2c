#pragma once

#include <string>
#include <string_view>

#include "proxy/http/message_parser.hpp"

namespace proxy {

/// Why a fetch gave no usable answer.
enum class FetchError {
    none,
    resolve_failed,
    resolve_timeout,  // no name server answered in time
    connect_failed,
    connect_timeout,
    tls_failed,  // the TLS handshake was refused by either side, or the certificate
    head_timeout,
    body_timeout,
    reset,           // the connection ended before the answer's framing did, or its handshake
    malformed,       // not HTTP, or framing that contradicts itself
    busy,            // limits.upstream_connections are open to that place
    no_descriptors,  // this process may open no more sockets
    not_allowed,     // a private destination, or nowhere to go
    own_listener,    // a listener of this node or of a peer, which would be a loop
    origin_down,     // it did not answer recent requests, so this one was not sent
    origin_error,    // a 5xx, in whose place a stale response may be served
    changed,         // asked for a part of one version, it sent another version: start again
    part_refused,    // asked for a part, it refused it to this client
    not_in_parts,    // its parts cannot be stored as blocks: ask for the client's own range
    abandoned,       // all clients that waited for it have left
    stopping,
};
std::string_view to_string(FetchError error);  // a token, as in Cache-Status and logs

/// What a client is told: the status, and a sentence that says what happened and where to look.
/// `host`: the origin's. `what` is malformed, if the error is that and it is known.
unsigned status_of(FetchError error);
std::string explain(FetchError error, std::string_view host, ParseError what = ParseError::ok);

}  // namespace proxy
