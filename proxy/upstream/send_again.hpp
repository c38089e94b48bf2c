#pragma once

#include "proxy/http/fetch_error.hpp"

namespace proxy {

/// What is known of a request that may have a body, or have changed something, and whose connection
/// ended.
struct Unanswered {
    bool reused = false;             // that connection had carried another request before
    bool heard_answer = false;       // an answer had begun
    bool unread = false;             // Exchange::was_unread()
    bool repeatable_method = false;  // is_repeatable_method()
    bool body_kept = false;          // all of the body that was taken from the client is at hand
};

/// Whether it goes out once more, on a new connection. Only an end of a kept connection is the
/// node's own affair, as directly there would have been none. Then a method that promises so may be
/// repeated, and any request of which nobody can have read a byte (RFC 9110 §9.2.2); all others end
/// with 502, as they may have been executed.
constexpr bool may_send_again(FetchError error, const Unanswered& request) {
    return error == FetchError::reset && request.reused && !request.heard_answer &&
           request.body_kept && (request.repeatable_method || request.unread);
}

}  // namespace proxy
