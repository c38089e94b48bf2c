#pragma once

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <cstddef>
#include <functional>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

namespace proxy {

inline constexpr std::size_t kFeedBatch = 2048;

/// A queue from any thread to the control thread, in order. The control thread is woken once for
/// all that came since the last time, and takes at most kFeedBatch in one turn of its event loop,
/// so that a great many at once (a purge of everything) do not hold up its other work. The queue is
/// not bounded; it grows by what the workers do while the control thread is busy, and gives back
/// what it grew by. push() from any thread, the consumer on the control thread.
template <class Item>
class ControlFeed {
public:
    using Consumer = std::function<void(std::span<const Item>)>;

    ControlFeed(boost::asio::io_context& control, Consumer consumer)
        : control_(control), consumer_(std::move(consumer)) {}

    void push(Item item) {
        const std::lock_guard lock(mutex_);
        pending_.push_back(std::move(item));
        if (!std::exchange(posted_, true)) again();
    }

private:
    void deliver() {
        if (batch_.empty()) {
            const std::lock_guard lock(mutex_);
            batch_.swap(pending_);
        }
        const auto rest = std::span<const Item>(batch_).subspan(delivered_);
        const auto now = rest.first(std::min(rest.size(), kFeedBatch));
        delivered_ += now.size();
        consumer_(now);
        if (delivered_ < batch_.size()) return again();
        batch_.clear();
        delivered_ = 0;
        // All that a disk holds comes at once, and the room that it took is not needed again.
        if (batch_.capacity() > kFeedBatch) std::vector<Item>().swap(batch_);
        const std::lock_guard lock(mutex_);
        if (pending_.empty()) {
            posted_ = false;
        } else {
            again();
        }
    }
    void again() {
        boost::asio::post(control_, [this] { deliver(); });
    }

    boost::asio::io_context& control_;
    Consumer consumer_;
    std::mutex mutex_;
    std::vector<Item> pending_;
    bool posted_ = false;

    std::vector<Item> batch_;  // the consumer's
    std::size_t delivered_ = 0;
};

}  // namespace proxy
