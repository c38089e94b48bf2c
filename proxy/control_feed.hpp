#pragma once

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <span>
#include <utility>

#include "proxy/disk/pages.hpp"

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
        ++pushed_;
        if (!std::exchange(posted_, true)) again();
    }

    /// How many there were so far, from any thread; and the consumer has had, on the control
    /// thread.
    std::uint64_t pushed() const {
        const std::lock_guard lock(mutex_);
        return pushed_;
    }
    std::uint64_t consumed() const { return consumed_; }

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
        consumed_ += now.size();
        if (delivered_ < batch_.size()) return again();
        batch_.clear();
        delivered_ = 0;
        // All that a disk holds comes at once, and the room that it took is not needed again.
        if (batch_.capacity() > kFeedBatch) Pages<Item>().swap(batch_);
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
    mutable std::mutex mutex_;
    Pages<Item> pending_;
    std::uint64_t pushed_ = 0;
    bool posted_ = false;

    Pages<Item> batch_;  // the consumer's
    std::size_t delivered_ = 0;
    std::uint64_t consumed_ = 0;
};

}  // namespace proxy
