#pragma once

#include <boost/unordered/unordered_flat_set.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>

#include "proxy/disk/pages.hpp"

namespace proxy {

/// Decides which records of a directory count, as recovery meets them from the newest on: the last
/// record of each variant, unless it was purged. It takes some 10 bytes for each record, in pages
/// that return to the system. One thread.
class LiveRecords {
public:
    enum class Standing : std::uint8_t { counts, superseded, purged };

    void expect(std::size_t records) { seen_.reserve(records); }
    /// `identity` stands for key and variant in 64 bits, so one in 2^64 pairs is mistaken.
    /// `is_purged`: a newer tombstone covers the record.
    Standing judge(std::uint64_t identity, bool is_purged) {
        // A purged record also supersedes the records before it.
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
