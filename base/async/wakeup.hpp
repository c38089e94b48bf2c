#pragma once

#include <atomic>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <memory>

namespace base {

/// Lets one coroutine wait, with a deadline, for a notification from any thread. A notification
/// before the wait counts for it. A wait may also end without one, so callers check their condition
/// after each wait.
class Wakeup : public std::enable_shared_from_this<Wakeup> {
public:
    explicit Wakeup(boost::asio::any_io_executor executor) : timer_(executor) {}

    /// Any thread.
    void notify() {
        if (pending_.exchange(true)) return;
        boost::asio::dispatch(timer_.get_executor(),
                              [self = shared_from_this()] { self->timer_.cancel(); });
    }

    /// On the owner's executor, one wait at a time. Returns false if `deadline` passed first.
    boost::asio::awaitable<bool> wait_until(std::chrono::steady_clock::time_point deadline);
    /// Waits until `flag` is set. Its writer calls notify() each time. Returns false if `deadline`
    /// passed first.
    boost::asio::awaitable<bool> wait_for(const std::atomic<bool>& flag,
                                          std::chrono::steady_clock::time_point deadline);

private:
    boost::asio::steady_timer timer_;
    std::atomic<bool> pending_{false};
};

}  // namespace base
