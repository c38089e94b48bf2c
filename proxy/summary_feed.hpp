#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <functional>
#include <mutex>
#include <utility>
#include <vector>

#include "summary/key_hash.hpp"

namespace proxy {

/// Carries what the store gains and loses to the control thread, in order and in batches: one
/// wake-up for all that came since the last. What waits is bounded by what the store can change
/// while the control thread is busy. push() from any thread, the consumer on the control thread.
class SummaryFeed {
public:
    using Consumer = std::function<void(summary::KeyHash, bool stored)>;

    SummaryFeed(boost::asio::io_context& control, Consumer consumer)
        : control_(control), consumer_(std::move(consumer)) {}

    void push(summary::KeyHash key, bool stored) {
        const std::lock_guard lock(mutex_);
        pending_.emplace_back(key, stored);
        if (pending_.size() == 1) boost::asio::post(control_, [this] { deliver(); });
    }

private:
    void deliver() {
        {
            const std::lock_guard lock(mutex_);
            batch_.swap(pending_);
        }
        for (const auto& [key, stored] : batch_) consumer_(key, stored);
        batch_.clear();
    }

    boost::asio::io_context& control_;
    Consumer consumer_;
    std::mutex mutex_;
    std::vector<std::pair<summary::KeyHash, bool>> pending_, batch_;
};

}  // namespace proxy
