#pragma once

#include "proxy/http/cache_control.hpp"
#include "proxy/http/described_enum.hpp"
#include "proxy/http/freshness.hpp"

#include <boost/beast/http/verb.hpp>
#include <cstdint>
#include <string_view>

namespace proxy {

/// The decision to store a response, or the reason against it. The names are values of a metric
/// label.
BOOST_DEFINE_FIXED_ENUM_CLASS(
    StorageVerdict, std::uint8_t, store,
    // decided by storage_verdict() from the head (RFC 9111 §3):
    method,        // reserved: only answers to GET come here
    interim,       // 1xx
    not_modified,  // a 304 only updates a response
    partial,       // 206, or 412 and 416: answers to a range or a condition
    request_no_store, no_store, private_,
    must_understand,  // with a status this cache does not implement
    authorization,    // §3.5; also for other credentials, and a cookie at a refusal
    vary_any,         // Vary: * (or more names than kMaxVaryNames)
    set_cookie,       // unless the configuration lets cookies be stored
    bypass,           // a rule lets such requests go past the cache
    no_freshness,     // without explicit freshness and without a status for heuristics
    not_reusable,     // stale from the start, and without a validator
    // of a redirect that a rule lets the node follow, and that the client follows itself:
    redirect_target,  // no Location, several, none that can be requested, or http behind https
    redirect_cookie,  // it has a cookie for its client
    redirect_host,    // no origin and no rule names the host, or a list or setting refuses it
    redirect_loop,    // it leads to a URL of the chain, or the chain is too long
    redirect_failed,  // the target did not answer
    // decided during the fetch:
    too_large,     // above object_max
    no_room,       // memory for filling is used up
    incomplete,    // cut off before its end
    invalidated,   // purged or invalidated while it came
    aborted,       // all its clients have left
    too_many_tags  // more than kMaxTags: a purge could miss it
)

/// The verdict on a response to a GET by its head. `said`, `vary` (from vary_names()) and
/// `freshness` belong to the response.
StorageVerdict storage_verdict(Fields request, const RequestDirectives& directives, unsigned status,
                               Fields response, const ResponseDirectives& said,
                               std::string_view vary, const Freshness& freshness,
                               const CacheRules& rules);

/// The same by Cache-Control alone (RFC 9111 §5.2.2): no-store, private, must-understand.
StorageVerdict verdict_of(const ResponseDirectives& said, unsigned status);

/// The verdict on a part of a body whose index was stored. The index has decided on freshness; the
/// request and the head of the part may still forbid to store the part (RFC 9111 §3.5, §5.2.2).
/// `vary`: from vary_names() of the part.
StorageVerdict part_verdict(Fields request, const RequestDirectives& directives,
                            const ResponseDirectives& said, const CacheRules& rules,
                            std::string_view vary = {});

/// Whether the response has a cookie that no qualified no-cache or private keeps for its client. It
/// is stored under CacheRules::store_set_cookie only.
bool shares_cookie(Fields response);

/// Whether the answer to a validation ends the stored response. It does if the origin now forbids
/// storing its answer about the resource (200, 404, 410 and the like, or the 304 itself). Errors
/// and redirects keep the stored response, and so does a verdict about this request alone, as for
/// its credentials.
bool ends_stored(StorageVerdict verdict, unsigned status);

/// Final statuses whose meaning this cache implements (RFC 9111 §5.2.2.3).
bool understood_status(unsigned status);

}  // namespace proxy
