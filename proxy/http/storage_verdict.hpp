#pragma once

#include "proxy/http/cache_control.hpp"
#include "proxy/http/freshness.hpp"

#include <boost/beast/http/verb.hpp>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace proxy {

/// Whether a response is stored, and if not, why. The names are the values of a metric label.
enum class StorageVerdict : std::uint8_t {
    store,
    // decided by its head (RFC 9111 §3), by storage_verdict():
    method,        // only answers to GET are stored
    interim,       // 1xx
    not_modified,  // a 304 is no response of its own
    partial,       // 206, or 412 and 416: answers to a range or a condition
    request_no_store,
    no_store,
    is_private,
    must_understand,  // with a status this cache does not implement
    authorization,    // §3.5
    vary_any,         // Vary: * (or more names than kMaxVaryNames)
    set_cookie,       // unless the configuration lets cookies be stored
    no_freshness,     // neither explicit freshness nor a status that allows heuristics
    not_reusable,     // stale from the start and nothing to validate with
    // decided while it is fetched:
    too_large,      // above object_max
    no_room,        // memory for filling is used up
    incomplete,     // cut off before its end
    invalidated,    // purged or invalidated while it came
    aborted,        // nobody wants it any more
    too_many_tags,  // more than kMaxTags: a purge could miss it
};
inline constexpr std::size_t kStorageVerdicts = 20;
std::string_view to_string(StorageVerdict verdict);

/// `said`, `vary` (from vary_names()) and `freshness` are those of this response.
StorageVerdict storage_verdict(boost::beast::http::verb method, Fields request,
                               const RequestDirectives& directives, unsigned status,
                               Fields response, const ResponseDirectives& said,
                               std::string_view vary, const Freshness& freshness,
                               const CacheRules& rules);

/// The same by what Cache-Control says alone (RFC 9111 §5.2.2): no-store, private, must-understand.
StorageVerdict verdict_of(const ResponseDirectives& said, unsigned status);

/// The verdict on a part of a body whose index was stored. The index has decided on freshness; the
/// request and the head of the part may still forbid to store the part (RFC 9111 §3.5, §5.2.2).
StorageVerdict part_verdict(Fields request, const RequestDirectives& directives,
                            const ResponseDirectives& said);

/// Has the response a cookie that a qualified no-cache or private does not withhold from others? It
/// may be stored, and given, only under CacheRules::store_set_cookie.
bool shares_cookie(Fields response);

/// After a validation: does this answer, with its verdict, end what was stored before? It does when
/// the origin now forbids storing what it says of the resource (200, 404, 410 and the like, or the
/// 304 itself); the old response is not to be used in its place. Errors, redirects and what only
/// this request keeps out of the store (its Authorization) leave it alone.
bool ends_stored(StorageVerdict verdict, unsigned status);

/// Final statuses whose meaning this cache implements (RFC 9111 §5.2.2.3).
bool understood_status(unsigned status);

}  // namespace proxy
