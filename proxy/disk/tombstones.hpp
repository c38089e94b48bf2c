#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <span>

#include "proxy/disk/footer.hpp"

namespace proxy {

inline constexpr std::size_t kMaxTombstones = 262'144;  // hashes, of one directory

/// What records of a directory must not count any more: those that were written before a tombstone
/// and whose key, or one of whose tags, it names; or all before it. Memory: 28 bytes for a hash at
/// 0.87 full, at most kMaxTombstones. One thread.
class Tombstones {
public:
    /// Precondition: most > 1.
    explicit Tombstones(std::size_t most = kMaxTombstones) : most_(most) {}

    void note(std::span<const summary::KeyHash> hashes, std::uint64_t seq);
    void note_all(std::uint64_t seq);
    /// Anything but a tombstone is left alone.
    void note(const FooterEntry& entry);
    /// The tombstone goes with its segment: all that it covers has gone before it.
    void forget(const FooterEntry& entry);

    bool cover(std::uint64_t seq, summary::KeyHash key,
               std::span<const summary::KeyHash> tags) const;
    /// Covers nothing that is not older than this.
    std::uint64_t newest() const { return newest_; }
    std::size_t size() const { return hashes_.size(); }
    /// How often there were too many, so that the older half became one for all records before it.
    std::uint64_t overflows() const { return overflows_; }

private:
    void overflow();

    std::size_t most_;
    std::uint64_t all_ = 0, newest_ = 0;
    std::uint64_t overflows_ = 0;
    boost::unordered_flat_map<summary::KeyHash, std::uint64_t, summary::HashOfKeyHash> hashes_;
};

}  // namespace proxy
