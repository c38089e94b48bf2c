#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "summary/sizing/key_hash.hpp"

namespace protocol::test {

/// So many hashes, of consecutive numbers.
inline std::vector<summary::KeyHash> some(std::size_t count, std::uint64_t first = 1) {
    std::vector<summary::KeyHash> hashes(count);
    for (auto& hash : hashes) hash = {first++, 7};
    return hashes;
}

}  // namespace protocol::test
