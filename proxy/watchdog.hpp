#pragma once

#include <atomic>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <vector>

namespace proxy {

/// Says now and then that the node is alive: that its control thread turns, on which this runs, and
/// that each worker has turned since it was said last. Must outlive the control thread.
class Watchdog {
public:
    struct Watched {
        boost::asio::any_io_executor executor;
        const std::atomic<bool>* ended;  // it turns no more, and is not to
    };

    Watchdog(boost::asio::io_context& control, std::vector<Watched> workers,
             std::chrono::nanoseconds interval, std::function<void()> alive);

    /// Control thread.
    void start();
    void stop();
    /// What the timer does at each interval.
    void look();

private:
    boost::asio::steady_timer timer_;
    std::vector<Watched> workers_;
    std::chrono::nanoseconds interval_;
    std::function<void()> alive_;
    bool stopped_ = false;
    std::vector<std::shared_ptr<std::atomic<bool>>> turned_;  // index as in workers_
};

}  // namespace proxy
