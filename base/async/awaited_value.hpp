#pragma once

#include <atomic>
#include <memory>
#include <utility>

#include "base/async/wakeup.hpp"

namespace base {

/// One value that a thread gives and a coroutine of another thread awaits. Both sides share this
/// object, because the coroutine may have ended before the value comes.
template <class T>
class AwaitedValue {
public:
    /// `wakeup` belongs to the coroutine that waits.
    explicit AwaitedValue(std::shared_ptr<Wakeup> wakeup) : wakeup_(std::move(wakeup)) {}

    /// Called once, on any thread.
    void give(T value) {
        value_ = std::move(value);
        given_.store(true, std::memory_order_release);
        wakeup_->notify();
    }

    /// Returns false when `deadline` passed first. The coroutine may wait again.
    boost::asio::awaitable<bool> wait_until(std::chrono::steady_clock::time_point deadline) {
        return wakeup_->wait_for(given_, deadline);
    }
    /// The value, after a wait that returned true.
    const T& value() const { return value_; }

private:
    std::shared_ptr<Wakeup> wakeup_;
    T value_{};
    std::atomic<bool> given_{false};
};

}  // namespace base
