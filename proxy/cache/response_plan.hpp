#pragma once

#include <chrono>
#include <cstdint>

#include "proxy/http/cache_control.hpp"
#include "proxy/http/cache_status.hpp"
#include "proxy/http/fetch_error.hpp"
#include "proxy/http/freshness.hpp"
#include "proxy/http/range.hpp"
#include "proxy/http/request_policy.hpp"
#include "proxy/storage/stored_response.hpp"
#include "proxy/upstream/site.hpp"

namespace proxy {

// Where the answer to a GET or HEAD comes from: a function of what the store says, of the request
// and of the time. No I/O, no clock.

/// What the store says of one request.
struct Lookup {
    const Freshness* stored = nullptr;  // of a complete response that the request selects; or null
    std::chrono::seconds residence{0};  // how long that has been here
    bool filling = false;               // a request like this one fetches the target
    bool other_variants = false;        // there are responses, none for this request
    bool unshareable = false;           // hit-for-miss: do not wait for others
};

/// What bears on it of the request, and of what is in effect.
struct Asking {
    const RequestDirectives& directives;
    RangeRequest range;
    bool is_head = false;
    bool if_range = false;
    bool conditions_for_origin =
        false;  // If-Match, If-Unmodified-Since (RFC 9110 §13.1.1, §13.1.4)
    bool authorization = false;
    bool has_peers = false;       // there is a cluster
    bool peers_may_hold = false;  // a summary has the target; asked of suffix ranges alone
    bool may_use_blocks = true;   // false: twice it did not work
    bool in_one_piece = false;    // this origin gives no parts that can be put together
};

enum class ResponseStep : std::uint8_t {
    serve,            // what is stored, as it is
    serve_and_renew,  // the same, while it is fetched anew behind it (RFC 5861 §3)
    refuse,           // only-if-cached: 504
    relay,            // past the store
    fetch,            // into the store, and from there: what is stored, if anything, is validated
};

struct ResponsePlan {
    ResponseStep step = ResponseStep::fetch;

    bool serves() const {
        return step == ResponseStep::serve || step == ResponseStep::serve_and_renew;
    }

    Reuse reuse = Reuse::stale;           // of what is stored
    Forward forward = Forward::uri_miss;  // why that is not the answer
    bool may_ask_peers = false;
    bool collapse = true;     // others may wait for the same fetch, and this one for theirs
    bool in_part = false;     // nothing is stored and a range is wanted: a block will do
    bool of_version = false;  // with that: by If-Range, the whole where there is another
};

/// The settings of now, which `policy` has, let this be stored. Content that was stored under
/// others ends when it is asked for.
bool may_give(const SitePolicy& policy, const StoredMetadata& stored);

/// A client that wants it new from the origin is not given a peer's copy.
bool may_ask_peers(const RequestDirectives& directives, bool has_peers);

/// First, as a hit needs no more than this: may what is stored be served? If not, `step` is not
/// decided yet.
ResponsePlan plan_reuse(const Lookup& found, const RequestDirectives& directives);
/// Then the rest. `plan`: of plan_reuse(), which may not serve.
ResponsePlan plan_fetch(ResponsePlan plan, const Lookup& found, const Asking& asking);

/// How the wait for a fetch has ended.
struct FetchSeen {
    bool leads = false;        // it is this request's own fetch, else another's
    bool released = false;     // the answer is for that other one alone
    bool unshareable = false;  // with that: as what it says may not be shared
    bool has_head = false;     // and its body has not broken off
    // Of another's, with a head:
    bool is_variant = true;  // this request selects it
    bool usable = true;      // and may be answered by it
    FetchError error = FetchError::none;
    bool stands_in = false;  // what is stored may be given in place of what failed
};
enum class FromFetch : std::uint8_t {
    answer,
    failure,     // something stored in its place, or an error
    alone,       // it is not for this request, which needs one of its own
    look_again,  // into the store
};
FromFetch plan_after_wait(const FetchSeen& seen);

}  // namespace proxy
