#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "protocol/wire/renewal.hpp"
#include "proxy/fetch/cache.hpp"
#include "proxy/fetch/known_renewals.hpp"
#include "proxy/fetch/storing.hpp"

namespace proxy {

// Renewals (protocol/FORMAT.md): what one node learns from the origin renews the copies of all. A
// node tells the peers that announce the key when the origin has confirmed or sent a response. A
// peer with a stale copy of this very version then uses it again without a request, and a peer with
// another version asks the node that told.

/// The renewal to tell of a response that was just stored under `key`. `length`: of its body.
/// Nothing: it is stale on arrival, or too old to be told.
std::optional<protocol::Renewal> renewal_of(summary::KeyHash key, const StoredResponse& response,
                                            const std::optional<std::uint64_t>& length,
                                            std::chrono::steady_clock::time_point now);

/// Whether the stored response is older than the last invalidation of its key or tags, as after a
/// soft purge. Then the origin alone confirms it.
bool has_survived_invalidation(const Store& store, summary::KeyHash hash, std::string_view uri,
                               const StoredResponse& stored);

/// The renewal is news for a response that the origin has confirmed or sent at `own`. Ages are in
/// whole seconds, so less than one of them shows nothing.
inline bool is_news(const KnownRenewals::Known& known, KnownRenewals::Time own) {
    return known.confirmed > own + std::chrono::seconds(1);
}

/// The renewal that is news for the stored response. Nothing: none is newer than the response, or
/// that has_survived_invalidation().
std::optional<KnownRenewals::Known> news_of(SharedCache& cache, summary::KeyHash hash,
                                            std::string_view uri, const StoredResponse& stored,
                                            std::chrono::steady_clock::time_point now);

/// The same, if it confirms this very version, so that take_renewal() can use it.
std::optional<KnownRenewals::Known> confirmation_of(SharedCache& cache, summary::KeyHash hash,
                                                    std::string_view uri,
                                                    const StoredResponse& stored,
                                                    std::chrono::steady_clock::time_point now);

/// Makes a stored response fresh in its place by its confirmation_of(). False: nothing has changed.
bool take_renewal(SharedCache& cache, const StoringRequest& storing, summary::KeyHash hash,
                  const StoredResponse& stored, const KnownRenewals::Known& confirmation,
                  std::chrono::steady_clock::time_point now);

}  // namespace proxy
