#pragma once

#include <array>
#include <cstddef>

#include "summary/key_hash.hpp"

namespace proxy {

/// What is stored is divided by the first bits of its keys, as each part has a lock and an eviction
/// queue of its own.
inline constexpr unsigned kShardsLog2 = 4;
inline constexpr std::size_t kShards = std::size_t{1} << kShardsLog2;

constexpr std::size_t shard_of(summary::KeyHash hash) {
    return hash.high >> (64 - kShardsLog2);
}

/// The two that are asked in this turn to give something up, the one that has more of
/// `bytes_of(shard)` first. Taken from each in turn, what comes by chance would leave some with
/// next to nothing after a while, and then their best goes. Within kShards turns it is everyone's.
template <class BytesOf>
constexpr std::array<std::size_t, 2> shards_of_turn(std::size_t turn, BytesOf bytes_of) {
    const auto one = turn % kShards;
    const auto other = (one + 1 + turn / kShards % (kShards - 1)) % kShards;
    if (bytes_of(other) > bytes_of(one)) return {other, one};
    return {one, other};
}

}  // namespace proxy
