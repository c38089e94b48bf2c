#pragma once

#include "proxy/http/cache_control.hpp"
#include "proxy/http/freshness.hpp"

#include <boost/beast/http/verb.hpp>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace proxy {

/// Is this response stored, or what speaks against it. Names are those of the metric label.
enum class StorageVerdict : std::uint8_t {
    store,
    // by rule (RFC 9111 §3), from storage_verdict():
    method,        // only answers to GET are stored
    interim,       // 1xx
    not_modified,  // a 304 is no response of its own
    partial,       // 206
    request_no_store,
    no_store,
    is_private,
    must_understand,  // with a status this cache does not implement
    authorization,    // §3.5
    vary_any,         // Vary: * (or more names than kMaxVaryNames)
    set_cookie,       // by configuration only
    no_freshness,     // neither explicit freshness nor a status that allows heuristics
    not_reusable,     // stale from the start and nothing to validate with
    // by circumstance, from the machinery:
    too_large,      // above object_max
    no_room,        // memory for filling is used up
    incomplete,     // cut off before its end
    invalidated,    // purged or invalidated while it came
    aborted,        // nobody wants it any more
    too_many_tags,  // more than kMaxTags: a purge could miss it
};
inline constexpr std::size_t kStorageVerdicts = 20;
std::string_view to_string(StorageVerdict verdict);

/// `freshness` is that of this response.
StorageVerdict storage_verdict(boost::beast::http::verb method, Fields request,
                               const RequestDirectives& directives, unsigned status,
                               Fields response, const Freshness& freshness,
                               const CacheRules& rules);

/// Final statuses whose meaning this cache implements (RFC 9111 §5.2.2.3).
bool understood_status(unsigned status);

}  // namespace proxy
