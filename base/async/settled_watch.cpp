#include "base/async/settled_watch.hpp"

#include <utility>

namespace base {

SettledWatch::SettledWatch(const boost::asio::any_io_executor& executor,
                           std::function<void()> settled)
    : settled_(std::move(settled)), files_(executor, [this] { note_change(); }), timer_(executor) {}

void SettledWatch::note_change() {
    settling_.changed(Settling::Clock::now());
    if (!waiting_) wait();
}

void SettledWatch::wait() {
    waiting_ = true;
    timer_.expires_at(*settling_.due());
    timer_.async_wait([this](const boost::system::error_code& error) {
        waiting_ = false;
        if (error) return;
        if (!settling_.take(Settling::Clock::now())) return wait();
        settled_();
    });
}

}  // namespace base
