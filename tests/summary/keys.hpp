#pragma once

#include <cstdint>
#include <vector>

#include "summary/sizing/key.hpp"
#include "summary/sizing/key_hash.hpp"

namespace summary::test {

/// For calls that take a number of changes or keys: all of them at once.
inline constexpr auto kNoLimit = ~std::size_t{0};

/// A small seeded generator (SplitMix64), so that a failure can be repeated on any machine.
class Random {
public:
    explicit Random(std::uint64_t seed) : state_(seed) {}

    std::uint64_t operator()() {
        state_ += 0x9e3779b97f4a7c15;
        auto word = state_;
        word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9;
        word = (word ^ (word >> 27)) * 0x94d049bb133111eb;
        return word ^ (word >> 31);
    }
    std::uint64_t below(std::uint64_t limit) { return (*this)() % limit; }
    bool one_in(std::uint64_t n) { return below(n) == 0; }

private:
    std::uint64_t state_;
};

/// The key of this number; keys of different numbers are independent.
inline KeyHash key(std::uint64_t number) {
    Random random(number * 0xd1342543de82ef95 + 1);
    const auto low = random();
    return {low, random()};
}

/// As it is asked for, by kinds that need no URI.
inline Key asked(KeyHash hash) {
    return {hash, {}};
}

inline std::vector<KeyHash> keys(std::uint64_t first, std::uint64_t count) {
    std::vector<KeyHash> result;
    result.reserve(count);
    for (auto number = first; number < first + count; ++number) result.push_back(key(number));
    return result;
}

}  // namespace summary::test
