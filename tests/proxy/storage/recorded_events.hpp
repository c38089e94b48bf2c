#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include "proxy/storage/node_events.hpp"

namespace proxy::test {

class IgnoredEvents final : public NodeEvents {
public:
    void push(KeyChange) override {}
    void push(NodeEvent) override {}
};

/// Keeps the events of a node without a control thread. Any thread.
class RecordedEvents : public NodeEvents {
public:
    void push(KeyChange change) override {
        const std::lock_guard lock(mutex_);
        auto& count = announced_[change.key.low];
        count += change.stored ? 1 : -1;
        EXPECT_TRUE(count == 0 || count == 1) << "a key changes once in each direction";
    }
    void push(NodeEvent event) override {
        if (auto* here = std::get_if<LocalInvalidation>(&event))
            invalidated.push_back(std::move(here->what));
    }

    /// 1 if the own summary of the node would have this key, else 0.
    int announced(summary::KeyHash key) const {
        const std::lock_guard lock(mutex_);
        const auto found = announced_.find(key.low);
        return found == announced_.end() ? 0 : found->second;
    }

    std::size_t all_announced() const {
        const std::lock_guard lock(mutex_);
        std::size_t sum = 0;
        for (const auto& [key, count] : announced_) sum += static_cast<std::size_t>(count);
        return sum;
    }

    std::vector<protocol::Invalidation> invalidated;  // one thread only

private:
    mutable std::mutex mutex_;
    std::map<std::uint64_t, int> announced_;
};

}  // namespace proxy::test
