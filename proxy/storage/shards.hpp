#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "summary/sizing/key_hash.hpp"

namespace proxy {

/// The store is divided by the first bits of the keys. Each shard has a lock and an eviction queue
/// of its own.
inline constexpr unsigned kShardsLog2 = 4;
inline constexpr std::size_t kShards = std::size_t{1} << kShardsLog2;

constexpr std::size_t shard_of(summary::KeyHash hash) {
    return hash.high >> (64 - kShardsLog2);
}

/// The two shards that evict in this turn, the one with more `bytes_of(shard)` first. If each shard
/// evicted in turn, chance would leave some shards nearly empty, and their best objects would go.
/// Each shard has its turn within kShards turns.
template <class BytesOf>
constexpr std::array<std::size_t, 2> shards_of_turn(std::size_t turn, BytesOf bytes_of) {
    const auto one = turn % kShards;
    const auto other = (one + 1 + turn / kShards % (kShards - 1)) % kShards;
    if (bytes_of(other) > bytes_of(one)) return {other, one};
    return {one, other};
}

/// Evicts the least value of all shards, with Favour::requests. `least_of(shard)` is
/// EvictionQueue::least(). `evict(shard, most)` evicts one object with a value up to `most`;
/// otherwise it makes least_of() of its shard accurate and returns false, and another shard may be
/// the one. Returns false if the last attempt, without a `most`, finds nothing.
template <class LeastOf, class Evict>
bool evict_least(std::uint32_t clock, LeastOf least_of, Evict evict) {
    for (std::size_t refusals = 0; refusals <= kShards; ++refusals) {
        std::size_t least = 0;
        std::int32_t ahead = INT32_MAX, next_ahead = INT32_MAX;  // of the clock
        for (std::size_t shard = 0; shard < kShards; ++shard) {
            const auto each = static_cast<std::int32_t>(least_of(shard) - clock);
            if (each < ahead) {
                next_ahead = std::exchange(ahead, each);
                least = shard;
            } else {
                next_ahead = std::min(next_ahead, each);
            }
        }
        std::optional<std::uint32_t> most;
        if (refusals < kShards) most = clock + static_cast<std::uint32_t>(next_ahead);
        if (evict(least, most)) return true;
    }
    return false;
}

}  // namespace proxy
