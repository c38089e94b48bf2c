#pragma once

#include <atomic>
#include <memory>
#include <utility>

#include "proxy/net/wakeup.hpp"

namespace proxy {

/// One value that another thread will give, and a coroutine waits for. Shared by both, as the
/// coroutine may have ended by the time the value comes.
template <class T>
class Reply {
public:
    /// `wakeup`: of whoever waits.
    explicit Reply(std::shared_ptr<Wakeup> wakeup) : wakeup_(std::move(wakeup)) {}

    /// Once; any thread.
    void give(T value) {
        value_ = std::move(value);
        given_.store(true, std::memory_order_release);
        wakeup_->notify();
    }

    /// False when `deadline` passed first; the answer may still come, and be waited for again.
    boost::asio::awaitable<bool> wait_until(std::chrono::steady_clock::time_point deadline) {
        return wakeup_->wait_for(given_, deadline);
    }
    /// After a wait that was successful.
    const T& value() const { return value_; }

private:
    std::shared_ptr<Wakeup> wakeup_;
    T value_{};
    std::atomic<bool> given_{false};
};

}  // namespace proxy
