#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <functional>
#include <mutex>
#include <utility>
#include <vector>

namespace proxy {

/// Carries what any thread has to say to the control thread, in order and in batches: one wake-up
/// for all that came since the last. What waits is bounded by what the workers can do while the
/// control thread is busy. push() from any thread, the consumer on the control thread.
template <class Item>
class ControlFeed {
public:
    using Consumer = std::function<void(const std::vector<Item>&)>;

    ControlFeed(boost::asio::io_context& control, Consumer consumer)
        : control_(control), consumer_(std::move(consumer)) {}

    void push(Item item) {
        const std::lock_guard lock(mutex_);
        pending_.push_back(std::move(item));
        if (pending_.size() == 1) boost::asio::post(control_, [this] { deliver(); });
    }

private:
    void deliver() {
        {
            const std::lock_guard lock(mutex_);
            batch_.swap(pending_);
        }
        consumer_(batch_);
        batch_.clear();
    }

    boost::asio::io_context& control_;
    Consumer consumer_;
    std::mutex mutex_;
    std::vector<Item> pending_, batch_;
};

}  // namespace proxy
