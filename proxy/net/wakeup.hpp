#pragma once

#include <atomic>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <memory>

namespace proxy {

/// Lets one coroutine wait, with a deadline, for something that any thread may announce. A notice
/// given before the wait begins is not lost. Waking without a notice is possible: look again after
/// each wait.
class Wakeup : public std::enable_shared_from_this<Wakeup> {
public:
    explicit Wakeup(boost::asio::any_io_executor executor) : timer_(std::move(executor)) {}

    /// Any thread.
    void notify() {
        if (pending_.exchange(true)) return;
        boost::asio::dispatch(timer_.get_executor(),
                              [self = shared_from_this()] { self->timer_.cancel(); });
    }

    /// The owner's executor only; one wait at a time. False when `deadline` passed first.
    boost::asio::awaitable<bool> wait_until(std::chrono::steady_clock::time_point deadline);
    /// Until `flag` is set, for which there must be a notice each time; false when `deadline`
    /// passed first.
    boost::asio::awaitable<bool> wait_for(const std::atomic<bool>& flag,
                                          std::chrono::steady_clock::time_point deadline);

private:
    boost::asio::steady_timer timer_;
    std::atomic<bool> pending_{false};
};

}  // namespace proxy
