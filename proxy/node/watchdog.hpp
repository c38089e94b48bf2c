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

/// Reports at an interval that the node is alive: the control thread, on which this runs, and the
/// event loop of every worker have turned since the last report. Outlives the control thread.
class Watchdog {
public:
    struct WatchedLoop {
        boost::asio::any_io_executor executor;
        const std::atomic<bool>* ended;  // the event loop has ended in order
    };

    Watchdog(boost::asio::io_context& control, std::vector<WatchedLoop> workers,
             std::chrono::nanoseconds interval, std::function<void()> alive);

    /// Control thread.
    void start();
    void stop();
    /// One check, and a report if all have turned. The timer calls it.
    void look();

private:
    boost::asio::steady_timer timer_;
    std::vector<WatchedLoop> workers_;
    std::chrono::nanoseconds interval_;
    std::function<void()> alive_;
    bool stopped_ = false;
    std::vector<std::shared_ptr<std::atomic<bool>>> turned_;  // index as in workers_
};

}  // namespace proxy
