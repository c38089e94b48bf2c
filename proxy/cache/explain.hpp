#pragma once

#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <cstddef>
#include <memory>

#include "proxy/cache/cache.hpp"
#include "proxy/http/cache_key.hpp"
#include "proxy/telemetry/explanation.hpp"

namespace proxy {

/// Of so many peers it is found out what they have, those first whose summaries have the key.
inline constexpr std::size_t kPeersLookedAt = 64;
/// Each answers within this, or it is not known.
inline constexpr std::chrono::seconds kLookAtPeers{1};

/// What this worker knows of a URL, and what the peers say of it when asked: for nobody's request,
/// and in no books but those of the store, for which it is a use, and of the disk, which is read.
/// Takes kLookAtPeers and kRecallAtMost at most.
boost::asio::awaitable<Explanation> explain(Cache& cache, CacheKey key);

}  // namespace proxy
