#pragma once

#include <atomic>
#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <mutex>
#include <span>

#include "proxy/disk/footer.hpp"

namespace proxy {

inline constexpr std::size_t kMaxTombstones = 262'144;  // hashes, of one directory

/// The purges of one directory. A tombstone covers the records that were written before it and
/// whose key, or one of whose tags, is among its hashes; all_gone covers all records before it.
/// Memory: 28 bytes for a hash at 0.87 full, at most kMaxTombstones hashes. Any thread.
class Tombstones {
public:
    /// Precondition: most > 1.
    explicit Tombstones(std::size_t most = kMaxTombstones) : most_(most) {}

    /// Ignores other records. True if the hashes exceeded the limit, so that the older half became
    /// one all_gone.
    bool note(const FooterEntry& entry);
    /// The tombstone leaves with its segment. All records that it covers have left before.
    void forget(const FooterEntry& entry);

    bool cover(std::uint64_t seq, summary::KeyHash key,
               std::span<const summary::KeyHash> tags) const;
    /// The latest seq of a tombstone: later records are uncovered.
    std::uint64_t newest() const { return newest_; }
    std::size_t size() const;

private:
    // Under the mutex.
    bool add(std::span<const summary::KeyHash> hashes, std::uint64_t seq);
    void add_all(std::uint64_t seq);
    void overflow();

    const std::size_t most_;
    std::atomic<std::uint64_t> newest_{0};
    mutable std::mutex mutex_;  // of the next two
    std::uint64_t all_ = 0;
    boost::unordered_flat_map<summary::KeyHash, std::uint64_t, summary::HashOfKeyHash> hashes_;
};

}  // namespace proxy
