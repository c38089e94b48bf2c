#pragma once

#include "proxy/http/cache_key.hpp"
#include "proxy/http/fetch_error.hpp"
#include "proxy/upstream/exchange.hpp"
#include "proxy/upstream/request_snapshot.hpp"
#include "proxy/upstream/upstream.hpp"

namespace proxy {

/// How a response came about.
struct RewriteOf {
    const CacheKey& url;         // at the origin, the last one after redirects
    bool is_head = false;        // it answers HEAD
    std::string_view sent_tags;  // the conditions of the request, with tags as clients know them
};

/// Gives `exchange`, which has the head of a response to `asks`, the head and body that clients of
/// a mirror get. No effect on requests without a mirror, and on interim responses. `busy`: the
/// memory for the body is in use (limits.body_windows). One worker thread.
FetchError rewrite_response(Upstream& upstream, const RequestSnapshot& asks, const RewriteOf& of,
                            Exchange& exchange);

}  // namespace proxy
