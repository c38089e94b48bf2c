#pragma once

#include <chrono>
#include <memory>
#include <string_view>

#include "proxy/cache/cache.hpp"
#include "proxy/cache/storing.hpp"
#include "proxy/upstream/exchange.hpp"

namespace proxy {

// What the store learns from exchanges that are relayed. `hash`: of the request's key.

/// After the head of the answer to a HEAD: 200 with the validators and the length of the stored GET
/// gives that its fields, as a 304 would; another 200 makes it stale (RFC 9111 §4.3.5). Any other
/// answer says nothing.
void learn_from_head(SharedCache& cache, const StoringRequest& request, summary::KeyHash hash,
                     const Exchange& exchange);

/// The target, and what Location and Content-Location name at the same origin, after a success of
/// an unsafe method (RFC 9111 §4.4), and the groups that it names (RFC 9875): here and at all
/// peers. How many URIs and groups these were.
std::size_t invalidate_after(SharedCache& cache, const CacheKey& key, const Head& answer);

/// A copy for the store of an answer to POST that says, by Content-Location, that it is what a GET
/// would bring, and for how long (RFC 9110 §9.3.3). Of any other answer it keeps nothing.
class KeptCopy {
public:
    /// Before invalidate_after(). `head` as render_response() made it; `asked`: before the request
    /// went out. What was invalidated since then is not kept.
    KeptCopy(SharedCache& cache, const StoringRequest& request, boost::beast::http::verb method,
             summary::KeyHash hash, const Exchange& exchange, std::string_view head,
             std::chrono::steady_clock::time_point asked);
    /// The answer itself has just invalidated so many: that does not count.
    void has_invalidated(std::size_t count);
    /// What comes of the body; gives up when it is too large or there is no room.
    void append(std::string_view piece);
    /// The body is complete: stores it.
    void finish();

private:
    std::uint64_t generation() const;

    SharedCache& cache_;
    const CacheKey& key_;
    const summary::KeyHash hash_;
    const std::uint64_t object_max_;
    std::shared_ptr<StoredResponse> response_;  // null: nothing is kept
    std::uint64_t length_ = 0;                  // of the body if known, else 0
    std::uint64_t generation_ = 0;
};

}  // namespace proxy
