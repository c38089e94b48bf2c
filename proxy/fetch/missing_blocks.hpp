#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "proxy/fetch/cache.hpp"
#include "proxy/fetch/fetch_job.hpp"
#include "proxy/http/cache_key.hpp"
#include "proxy/upstream/site.hpp"
#include "summary/sizing/key.hpp"

namespace proxy {

// These functions find the sources of a body's blocks. They read the store and the peers'
// summaries.

/// A stream looks at so many blocks at most.
inline constexpr std::uint64_t kMaxBlocksExpected = 1024;

/// The body that is to be sent, and what its stream knows. A view.
struct BodyAsked {
    const CacheKey& key;
    const summary::KeyHash& hash;  // of the key
    const LoadedConfig& config;
    const std::optional<UpstreamTarget>& origin;
    const PeersOfStream& peers;
    std::uint64_t block_bytes;
};

/// The peer that would get the first request for `part`, which is the body or a block of it. The
/// result is empty if the origin would: only the origin has the part, or every peer with it is slow
/// or out of reach now.
std::optional<std::size_t> likely_peer(const Cache& cache, const BodyAsked& body,
                                       const summary::Key& part);

/// Counts the blocks behind the wanted one that only the origin has, up to the first other block or
/// the end of what the stream wants, and returns the end of the last one. The result is empty if
/// there are none. Precondition: the job is for a block.
std::optional<std::uint64_t> end_of_missing(const Cache& cache, const FetchJob& job);

}  // namespace proxy
