#pragma once

#include <cstdint>
#include <optional>

#include "proxy/http/fetch_error.hpp"
#include "proxy/http/message_parser.hpp"
#include "proxy/http/storage_verdict.hpp"
#include "proxy/http/validators.hpp"

namespace proxy {

// What one fetch asks of its origin, and what it makes of the answer. Functions: no I/O, no clock.

/// What a fetch knows before it asks.
struct FetchFacts {
    bool routed = true;       // there is an origin to ask
    bool block = false;       // one block of a body is wanted
    bool stored = false;      // a response is stored that may be good again
    bool peer_copy = false;   // a peer holds one that is stale
    bool part = false;        // nothing is stored, and the client wants a range
    bool suffix = false;      // of these the last bytes: which block that is, only peers might know
    bool only_whole = false;  // an answer to a question of our own made no sense
};

/// What the request has beside what the client sent.
enum class OriginRequestKind : std::uint8_t {
    as_client,        // nothing
    block,            // Range and If-Range: the block that is wanted
    validate_stored,  // the validators of what is stored
    validate_copy,    // those of the peer's copy
    first_block,      // Range: the block in which the client's range begins
    impossible,       // it cannot be asked: not_allowed, or not_in_parts
};
OriginRequestKind what_to_ask(const FetchFacts& fetch);
/// Why it is that it cannot be asked.
FetchError why_not_ask(const FetchFacts& fetch);

/// What has come of it.
struct OriginResult {
    FetchError error = FetchError::none;
    const Head* head = nullptr;           // null: with an error
    std::optional<std::uint64_t> length;  // of its body, if known
};

enum class OriginStep : std::uint8_t {
    fail,             // with `error`
    ask_whole,        // once more, as the client did
    take_block,       // a block was asked for
    renew_stored,     // 304: what is stored is good
    take_copy,        // 304: the peer's copy is good
    begin_in_blocks,  // the first block of a body of which nothing was known
    offer_in_blocks,  // too large to be stored in one piece: as an index, if that can be
    pass,             // it is the answer
};
struct OriginMeaning {
    OriginStep step = OriginStep::pass;
    FetchError error = FetchError::none;
    bool unshareable = false;  // nor would it be for whoever asks next (hit-for-miss)

    bool operator==(const OriginMeaning&) const = default;
};

/// `asked`: what_to_ask() has said so; `sent`: the validators that went with it, if any.
/// `stand_in`: what is stored may be given in place of an error of the origin's. `in_blocks_above`:
/// larger bodies are stored in blocks (cache.slice_from).
/// Whatever goes wrong with a question of our own is not the client's business: it asked for a
/// page. So it is asked once more without it.
OriginMeaning meaning_of(OriginRequestKind asked, const Validators& sent,
                         const OriginResult& result, bool stand_in, std::uint64_t in_blocks_above);

/// Does the origin give ranges, by its own word?
bool accepts_ranges(Fields response);

/// The fate of a stored response when its origin has answered with something that is not stored.
enum class StoredFate : std::uint8_t {
    stays,
    stands_in_for_nothing,  // it stays to be validated, and no trouble of the origin revives it
    ends,
};
struct AnswerNotStored {
    StorageVerdict verdict = StorageVerdict::store;
    unsigned status = 0;
    bool was_validation = false;
    bool was_fresh = false;        // the stored response, at that time
    bool identifies_user = false;  // the request: its answer may be for its user alone
};
/// RFC 9111 §4.3.3: the answer takes the place of the stored response, lest a deleted or forbidden
/// page go on. An answer that forbids to store the resource ends the stored response; so does one
/// that says that the resource is another or gone (2xx, 404, 410, 451). After a redirection or a
/// refusal the stored response stands in for nothing. Errors that may pass (5xx, 408, 429) and
/// answers to a range or a condition leave it alone, and so does what concerns one user. Without a
/// validation, a response that is still fresh stays: the new answer says nothing of it.
StoredFate fate_of_stored(const AnswerNotStored& answer);

}  // namespace proxy
