#pragma once

#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <cstddef>
#include <memory>

#include "proxy/fetch/cache.hpp"
#include "proxy/http/cache_key.hpp"
#include "proxy/telemetry/explanation.hpp"

namespace proxy {

/// The most peers that explain() asks, starting with those whose summaries have the key.
inline constexpr std::size_t kPeersLookedAt = 64;
/// The time for a peer's response; later ones are unknown.
inline constexpr std::chrono::seconds kLookAtPeers{1};

/// Explains a URL: the knowledge of this worker, and the responses of peers to HEAD requests. No
/// client request is involved, and no counter shows it. It counts as a use in the store, and reads
/// the disk. Takes at most kLookAtPeers and kRecallAtMost.
boost::asio::awaitable<Explanation> explain(Cache& cache, CacheKey key);

}  // namespace proxy
