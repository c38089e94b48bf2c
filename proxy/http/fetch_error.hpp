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
    tls_failed,  // no TLS connection that proves what it has to prove
    head_timeout,
    body_timeout,
    reset,           // the connection ended before the answer's framing did
    malformed,       // not HTTP, or framing that contradicts itself
    busy,            // limits.upstream_connections are open to that place
    no_descriptors,  // this process may open no more sockets
    not_allowed,     // a private destination, or nowhere to go
    own_listener,    // where this node or a peer listens: nothing is forwarded there
    origin_down,     // it left the last requests unanswered, and this one did not go to it
    origin_error,    // it answered with a status for which a stale response stands in
    changed,         // a part of another version came, or none: start again
    not_in_parts,    // a range came in a way that cannot be stored: ask for exactly what is wanted
    abandoned,       // nobody wanted it any more
    stopping,
};
std::string_view to_string(FetchError error);  // a token, as in Cache-Status and logs

/// What a client is told: the status, and a sentence that says what happened and where to look.
/// `host`: the origin's. `what` is malformed, if the error is that and it is known.
unsigned status_of(FetchError error);
std::string explain(FetchError error, std::string_view host, ParseError what = ParseError::ok);

}  // namespace proxy
