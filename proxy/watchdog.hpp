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

/// Reports at an interval that the node is alive: its control thread, on which this runs, and every
/// worker have processed their event loops since the last report. Must outlive the control thread.
class Watchdog {
public:
    struct Watched {
        boost::asio::any_io_executor executor;
        const std::atomic<bool>* ended;  // its event loop has ended, as it was to
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
