#pragma once

#include <optional>
#include <string>
#include <string_view>

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
/// a mirror get; a 101 has a head alone. Counts a redirect that leaves the mirrors. No effect on
/// requests without a mirror. `busy`: the memory for the body is in use (limits.body_windows). One
/// worker thread.
FetchError rewrite_response(Upstream& upstream, const RequestSnapshot& asks, const RewriteOf& of,
                            Exchange& exchange);

/// Returns the host, with a port other than the default, to which this response of a mirror leads
/// clients past all entries of `origins`. Nothing: it is no redirect, or an entry answers there for
/// these clients. An entry `*` answers for the hosts that lead to this node, so it does not count.
/// `own`: the client's target URI. `rewritten`: as the client gets it.
std::optional<std::string> leaves_mirrors_for(const LoadedConfig& config, const CacheKey& own,
                                              const Head& rewritten);

/// The interim response that `received` becomes for clients of `mirror`, which may be null. `own`:
/// the client's target URI.
InterimResponse interim_of_origin(const LoadedConfig& config, const Mirror* mirror,
                                  const CacheKey& own, const Head& received);

}  // namespace proxy
