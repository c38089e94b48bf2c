#pragma once

#include <atomic>
#include <boost/unordered/unordered_flat_set.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>

#include "proxy/disk/disk_tier.hpp"
#include "proxy/http/arrival.hpp"
#include "summary/sizing/key.hpp"

namespace proxy {

/// The target URIs that may have blocks on the disk. An invalidation of such a target ends its
/// blocks there. With more than kMost targets it answers yes for all. Any thread.
class BlockTargets {
public:
    static constexpr std::size_t kMost = 1 << 20;  // about 24 bytes each

    void note(summary::KeyHash target) {
        const std::lock_guard lock(mutex_);
        if (targets_.size() < kMost)
            targets_.insert(target);
        else
            too_many_ = true;
    }
    /// The target may have blocks, which the caller is about to end.
    bool take(summary::KeyHash target) {
        const std::lock_guard lock(mutex_);
        return targets_.erase(target) > 0 || too_many_;
    }

private:
    std::mutex mutex_;
    boost::unordered_flat_set<summary::KeyHash, summary::HashOfKeyHash> targets_;
    bool too_many_ = false;
};

/// The disk tier of a store, between start() and close(), with the hash function and the clock that
/// its records need. Any thread, but for start() and close(). Only these two wait for a disk.
class StoreDisk {
public:
    using Clock = std::chrono::steady_clock;

    /// Opens the tier; `owner` maintains its index and must outlive it. Throws as DiskTier does. To
    /// be called once, before anything is stored.
    void start(DiskCalls& calls, DiskTier::Config config, const summary::KeyHasher& hasher,
               DiskOwner& owner);
    /// Writes the queued records and ends the tier's threads. The last call.
    void close();

    /// Null for a store in memory alone.
    DiskTier* tier() const { return tier_; }
    /// close() has begun: the tier accepts its last writes.
    bool closing() const { return closing_; }
    bool loading() const { return tier_ && tier_->loading(); }

    summary::KeyHash hash_of(std::string_view uri) const { return (*hasher_)(uri); }
    /// This process's clocks at `now`. Its wall clock stays at or ahead of the steady clock,
    /// because an adjustment of the system's clock must leave the age of records as it is.
    ClockReading present(Clock::time_point now) const;

    /// Ends all records of this key or tag that were queued so far, also after a restart.
    void end(summary::KeyHash key_or_tag);
    void end_all();
    /// Counts end() and end_all(). Until the disk has written them, a crash may bring the records
    /// back (DiskTier::end()).
    std::uint64_t ends() const { return ends_.load(std::memory_order_relaxed); }

    /// The targets of the blocks on the disk.
    BlockTargets block_targets;

private:
    std::optional<summary::KeyHasher> hasher_;
    ClockReading begun_;  // at start()
    std::atomic<bool> closing_{false};
    std::atomic<std::uint64_t> ends_{0};
    DiskTier* tier_ = nullptr;  // owned_, until that has ended
    std::unique_ptr<DiskTier> owned_;
};

}  // namespace proxy
