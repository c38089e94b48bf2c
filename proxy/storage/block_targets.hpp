#pragma once

#include <boost/unordered/unordered_flat_set.hpp>
#include <cstddef>
#include <mutex>

#include "summary/key_hash.hpp"

namespace proxy {

/// Of which target URIs there may be blocks on the disk: who invalidates one of them has to end its
/// blocks there, too. Says yes of all once there are too many to know. Any thread.
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
    /// Whether it may have some, which the caller ends now.
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
