#include "base/async/wakeup.hpp"

#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace base {

boost::asio::awaitable<bool> Wakeup::wait_until(std::chrono::steady_clock::time_point deadline) {
    if (pending_.exchange(false)) co_return true;
    timer_.expires_at(deadline);
    boost::system::error_code ec;
    co_await timer_.async_wait(boost::asio::redirect_error(boost::asio::use_awaitable, ec));
    co_return (pending_.exchange(false) || ec);
}

boost::asio::awaitable<bool> Wakeup::wait_for(const std::atomic<bool>& flag,
                                              std::chrono::steady_clock::time_point deadline) {
    while (!flag.load(std::memory_order_acquire)) {
        const auto woken = co_await wait_until(deadline);
        if (!woken) co_return flag.load(std::memory_order_acquire);
    }
    co_return true;
}

}  // namespace base
