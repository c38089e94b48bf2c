#include "proxy/node/watchdog.hpp"

#include <boost/asio/post.hpp>
#include <utility>

namespace proxy {

Watchdog::Watchdog(boost::asio::io_context& control, std::vector<WatchedLoop> workers,
                   std::chrono::nanoseconds interval, std::function<void()> alive)
    : timer_(control), workers_(std::move(workers)), interval_(interval), alive_(std::move(alive)) {
    for (std::size_t i = 0; i < workers_.size(); ++i)
        turned_.push_back(std::make_shared<std::atomic<bool>>(true));
}

void Watchdog::start() {
    look();
    timer_.expires_after(interval_);
    timer_.async_wait([this](const boost::system::error_code& ec) {
        if (!ec && !stopped_) start();  // the timer may have expired just before the end
    });
}

void Watchdog::stop() {
    stopped_ = true;
    timer_.cancel();
}

void Watchdog::look() {
    for (std::size_t i = 0; i < workers_.size(); ++i)
        if (!*turned_[i] && !*workers_[i].ended) return;  // the last post has yet to run
    alive_();
    for (std::size_t i = 0; i < workers_.size(); ++i) {
        *turned_[i] = false;
        boost::asio::post(workers_[i].executor, [turned = turned_[i]] { *turned = true; });
    }
}

}  // namespace proxy
