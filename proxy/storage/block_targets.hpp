#pragma once

#include <boost/unordered/unordered_flat_set.hpp>
#include <cstddef>
#include <mutex>

#include "summary/key_hash.hpp"

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

}  // namespace proxy
