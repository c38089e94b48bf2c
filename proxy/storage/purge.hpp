#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "protocol/wire/invalidation.hpp"
#include "summary/key_hash.hpp"

namespace proxy {

inline constexpr std::size_t kMaxPurged = 1024;         // URLs and tags of one order together
inline constexpr std::size_t kMaxPurgeTagBytes = 1024;  // of one tag
/// How long an order waits for the peers' confirmations. Who has not confirmed by then is told
/// all the same.
inline constexpr std::chrono::seconds kPurgeDeadline{1};

/// What somebody wants to be gone, in the whole cluster.
struct PurgeOrder {
    std::vector<std::string> uris;  // as CacheKey has them; all variants of each
    std::vector<std::string> tags;  // of Surrogate-Key
};
/// The same, as it goes to stores and peers.
protocol::Invalidation named(const PurgeOrder& order, const summary::KeyHasher& hasher);

/// What became of it.
struct PurgeReport {
    std::string node;                    // where the order was given
    std::uint64_t objects = 0;           // target URIs that were stored there
    std::vector<std::string> confirmed;  // peers that have dropped it
    std::vector<std::string> pending;    // that are there, but have not said so yet; this node too,
                                         // while its disk has not written it
    std::vector<std::string> away;  // peers without a link: they drop it before they count again

    bool everywhere() const { return pending.empty() && away.empty(); }
};

/// The body of POST /api/v1/purge: an object with one or more of `url`, `urls`, `tags`. Else a
/// sentence that says what is wrong.
std::variant<PurgeOrder, std::string> parse_purge(std::string_view json);

/// 200 when it is gone for good here and all peers have confirmed, else 202.
unsigned status_of(const PurgeReport& report);
std::string purge_json(const PurgeReport& report);

}  // namespace proxy
