#pragma once

#include "proxy/http/fetch_error.hpp"

namespace proxy {

/// The state of a request whose connection ended. It may have a body, or may have changed
/// something.
struct BrokenExchange {
    bool reused = false;             // the connection had carried another request before
    bool heard_answer = false;       // a response had begun
    bool unread = false;             // Exchange::was_unread()
    bool repeatable_method = false;  // is_repeatable_method()
    bool body_kept = false;          // all bytes taken from the client's body are at hand
};

/// Decides whether the request goes out once more, on a new connection. Only the end of a kept
/// connection is the node's own affair, since a direct client would have had none. A repeatable
/// method may be repeated then, and so may any request of which the other side read no byte (RFC
/// 9110 §9.2.2). All others end with 502, as they may have been executed.
constexpr bool may_send_again(FetchError error, const BrokenExchange& request) {
    return error == FetchError::reset && request.reused && !request.heard_answer &&
           request.body_kept && (request.repeatable_method || request.unread);
}

}  // namespace proxy
