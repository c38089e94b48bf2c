#pragma once

#include <boost/unordered/unordered_flat_set.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>

#include "proxy/disk/pages.hpp"

namespace proxy {

/// Which records of a directory count, told as they are met, the newest first: the last of each
/// variant, if it was not purged. Memory: some 10 bytes for each that it has seen, in pages that go
/// back to the system. One thread.
class Reckoning {
public:
    enum class Standing : std::uint8_t { counts, superseded, purged };

    void expect(std::size_t records) { seen_.reserve(records); }
    /// `identity`: of key and variant; 64 bits, so one in 2^64 pairs is taken for the same.
    /// `is_purged`: by a tombstone that is newer.
    Standing judge(std::uint64_t identity, bool is_purged) {
        // What was purged has ended what was before it, too.
        const bool is_last = seen_.insert(identity).second;
        if (is_purged) return Standing::purged;
        return is_last ? Standing::counts : Standing::superseded;
    }

private:
    boost::unordered_flat_set<std::uint64_t, boost::hash<std::uint64_t>, std::equal_to<>,
                              PageAllocator<std::uint64_t>>
        seen_;
};

}  // namespace proxy
