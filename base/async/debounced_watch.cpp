#include "base/async/debounced_watch.hpp"

#include <utility>

namespace base {

DebouncedWatch::DebouncedWatch(const boost::asio::any_io_executor& executor,
                               std::function<void()> settled)
    : settled_(std::move(settled)), files_(executor, [this] { note_change(); }), timer_(executor) {}

void DebouncedWatch::note_change() {
    debouncer_.changed(Debouncer::Clock::now());
    if (!waiting_) wait();
}

void DebouncedWatch::wait() {
    waiting_ = true;
    timer_.expires_at(*debouncer_.due());
    timer_.async_wait([this](const boost::system::error_code& error) {
        waiting_ = false;
        if (error) return;
        if (!debouncer_.take(Debouncer::Clock::now())) return wait();
        settled_();
    });
}

}  // namespace base
