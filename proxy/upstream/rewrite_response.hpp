#pragma once

#include "proxy/http/cache_key.hpp"
#include "proxy/http/fetch_error.hpp"
#include "proxy/http/interim.hpp"
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
/// a mirror get; a 101 has a head alone. No effect on requests without a mirror. `busy`: the memory
/// for the body is in use (limits.body_windows). One worker thread.
FetchError rewrite_response(Upstream& upstream, const RequestSnapshot& asks, const RewriteOf& of,
                            Exchange& exchange);

/// The interim response that `received` becomes for clients of `mirror`, which may be null. `own`:
/// the client's target URI.
InterimResponse interim_of_origin(const LoadedConfig& config, const Mirror* mirror,
                                  const CacheKey& own, const Head& received);

}  // namespace proxy
