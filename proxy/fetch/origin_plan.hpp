#pragma once

#include <cstdint>
#include <optional>

#include "proxy/http/fetch_error.hpp"
#include "proxy/http/message_parser.hpp"
#include "proxy/http/storage_verdict.hpp"
#include "proxy/http/validators.hpp"

namespace proxy {

// The request of one fetch to its origin, and the meaning of the response. Functions: no I/O, no
// clock.

/// The facts before the request.
struct FetchFacts {
    bool has_site = true;     // of the request
    bool block = false;       // the job wants one block of a body
    bool stored = false;      // a stored response may be good again
    bool peer_copy = false;   // a peer has a stale copy
    bool part = false;        // nothing is stored, and the client wants a range
    bool suffix = false;      // the range is a suffix: only peers may know its block
    bool only_whole = false;  // a response to conditions of this node made no sense
};

/// The additions of this node to the client's request.
enum class OriginRequestKind : std::uint8_t {
    as_client,        // none
    block,            // Range and If-Range of the wanted block
    validate_stored,  // validators of the stored response
    validate_copy,    // validators of the peer's copy
    first_block,      // Range of the blocks around the client's range
    impossible,       // there can be no request: not_allowed, or not_in_parts
};
/// Decides the additions to the client's request.
OriginRequestKind what_to_ask(const FetchFacts& fetch);
/// The reason for `impossible`.
FetchError why_not_ask(const FetchFacts& fetch);

/// The end of the request.
struct OriginResult {
    FetchError error = FetchError::none;
    const Head* head = nullptr;           // null with an error
    std::optional<std::uint64_t> length;  // of its body, if known
};

/// The step after the end of the request.
enum class OriginStep : std::uint8_t {
    fail,             // with `error`
    ask_whole,        // again, as the client did
    take_block,       // the job wants a block
    renew_stored,     // 304: the stored response is good
    take_copy,        // 304: the peer's copy is good
    begin_in_blocks,  // the first blocks of an unknown body
    offer_in_blocks,  // too large for one piece: as an index, if possible
    pass,             // the response is the result
};
/// The meaning of a response, or of its absence, for the fetch: the next step, and its error.
struct OriginMeaning {
    OriginStep step = OriginStep::pass;
    FetchError error = FetchError::none;
    bool unshareable = false;  // the next request does not wait for another's (hit-for-miss)

    bool operator==(const OriginMeaning&) const = default;
};

/// `asked`: by what_to_ask(). `sent`: the validators of the request, if any. `stand_in`: a stored
/// response may be given in place of the origin's error. `in_blocks_above`: larger bodies are
/// stored in blocks (cache.slice_from). A failure of the node's own conditions or ranges is no
/// concern of the client, so the request goes out again without them.
OriginMeaning meaning_of(OriginRequestKind asked, const Validators& sent,
                         const OriginResult& result, bool stand_in, std::uint64_t in_blocks_above);

/// A response with this status speaks of trouble that may pass (5xx, 408, 429).
constexpr bool may_pass(unsigned status) {
    return status >= 500 || status == 408 || status == 429;
}

/// The origin says that it gives ranges.
bool accepts_ranges(Fields response);

/// The fate of a stored response after a response of its origin that is not stored.
enum class StoredResponseFate : std::uint8_t {
    stays,
    stands_in_for_nothing,  // it stays for validation, and no trouble of the origin revives it
    ends,
};
/// The response that is not stored, beside a stored one.
struct ResponseNotStored {
    StorageVerdict verdict = StorageVerdict::store;
    unsigned status = 0;
    bool was_validation = false;
    bool was_fresh = false;        // the stored response, at that time
    bool identifies_user = false;  // the request: its response may be for its user alone
};
/// RFC 9111 §4.3.3: the new response replaces the stored one, so that a deleted or forbidden page
/// does not live on. A response that forbids to store the resource ends the stored one, and so does
/// one that says that the resource is another or gone (2xx, 404, 410, 451). After a redirection or
/// a refusal the stored response stands in for nothing. Passing errors (5xx, 408, 429), responses
/// to a range or condition, and those that concern one user leave it alone. Without a validation a
/// fresh response stays, because the new one says nothing of it.
StoredResponseFate fate_of_stored(const ResponseNotStored& answer);

}  // namespace proxy
