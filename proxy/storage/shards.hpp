#pragma once

#include <array>
#include <cstddef>

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

}  // namespace proxy
