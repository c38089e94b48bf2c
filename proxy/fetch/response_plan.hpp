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

// The plan of the response to a GET or HEAD of a client: a function of look-up, request and time.
// No I/O, no clock.

/// The result of a look-up in the store.
struct StoreFacts {
    const Freshness* stored = nullptr;  // of a complete response that the request selects; or null
    std::chrono::seconds residence{0};  // the time that it has been in the store
    bool has_fill = false;              // a request of this class fetches the target
    bool other_variants = false;        // there are responses, none for this request
    bool unshareable = false;           // hit-for-miss: requests do not wait for each other
    bool unsure = false;                // AwaitedOrders: `stored` has to be validated
};

/// The facts of the request, and of the settings.
struct RequestFacts {
    const RequestDirectives& directives;
    RangeRequest range;
    bool is_head = false;
    bool fetches_for_head = false;  // a rule lets a HEAD fill the store
    bool if_range = false;
    bool conditions_for_origin =
        false;                    // If-Match, If-Unmodified-Since (RFC 9110 §13.1.1, §13.1.4)
    bool authorization = false;   // a credential (credentials.hpp), or the origin authorizes each
    bool has_peers = false;       // there is a cluster
    bool peers_may_have = false;  // a summary has the target; looked up for suffix ranges alone
    bool may_use_blocks = true;   // false: it failed twice
    bool in_one_piece = false;    // this origin gives no parts that fit together
};

/// The way to the response.
enum class ResponseStep : std::uint8_t {
    serve,            // the stored response, as it is
    serve_and_renew,  // the same, with a fetch behind it (RFC 5861 §3)
    refuse,           // only-if-cached: 504
    relay,            // past the store
    fetch,            // into the store and from there; a stored response is validated
};

/// The decision about one request: the step, its reason, and the permissions of a fetch.
struct ResponsePlan {
    ResponseStep step = ResponseStep::fetch;

    bool serves() const {
        return step == ResponseStep::serve || step == ResponseStep::serve_and_renew;
    }

    Reuse reuse = Reuse::stale;           // of the stored response
    Forward forward = Forward::uri_miss;  // the reason why the store is not the source
    bool may_ask_peers = false;
    bool collapse = true;     // requests of this class share one fetch
    bool in_part = false;     // nothing is stored and the client wants a range: a block will do
    bool of_version = false;  // with that, by If-Range: the whole of another version
    /// With `relay`: the range ends the body, and once the whole is stored the store knows it.
    bool may_fill_behind = false;
};

/// True if the settings of now, in `policy`, let the response be stored. A response that was stored
/// under other settings ends at its next request.
bool may_give(const SitePolicy& policy, const StoredMetadata& stored);

/// False for a client that wants a new response from the origin.
bool may_ask_peers(const RequestDirectives& directives, bool has_peers);

/// The first step, and the only one for a hit: decides whether the stored response is served.
/// Otherwise `step` is open.
ResponsePlan plan_reuse(const StoreFacts& found, const RequestDirectives& directives);
/// The second step. `plan`: of plan_reuse(), which may not serve.
ResponsePlan plan_fetch(ResponsePlan plan, const StoreFacts& found, const RequestFacts& request);

/// The end of a wait for a fetch.
struct FollowerWait {
    bool leads = false;        // the fetch is this request's own
    bool released = false;     // the response is for the leader alone
    bool unshareable = false;  // with that: it may not be shared
    bool has_head = false;     // and its body has not broken off
    // For another request's fetch with a head:
    bool is_variant = true;  // this request selects it
    bool usable = true;      // and may reuse it
    FetchError error = FetchError::none;
    bool stands_in = false;  // a stored response may take the place of the failure
    bool again = false;      // another fetch has already failed in this way
};
/// The consequence of that end for the request.
enum class FollowerStep : std::uint8_t {
    respond,
    failure,     // a stored response in its place, or an error
    alone,       // this request needs a fetch of its own
    look_again,  // into the store
};
/// The origin answered, but not in a way that means anything. The next connection may fare better.
bool may_be_of_one_answer(FetchError error);
/// Decides the step of a request whose wait for a fetch has ended.
FollowerStep plan_after_wait(const FollowerWait& seen);

}  // namespace proxy
