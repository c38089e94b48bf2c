#pragma once

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <cstdint>
#include <mutex>
#include <string_view>

#include "proxy/telemetry/rate_limited_log.hpp"

namespace proxy {

/// Where exceptions end that nobody expects: of the handlers of an event loop, whose thread goes
/// on, and of whatever catches one to say so. What threw is dropped, which closes a connection or
/// ends a task. Each is counted and, at the pace of the error log, written there. Any thread.
class FaultWall {
public:
    /// io.run() until that ends, whatever its handlers throw. `thread`: its name, for the log.
    void run(boost::asio::io_context& io, std::string_view thread);
    /// In a catch block: counts and logs what is handled there. `where`: what met it.
    void note(std::string_view where);

    std::uint64_t caught() const { return caught_.load(std::memory_order_relaxed); }

private:
    std::atomic<std::uint64_t> caught_{0};
    std::mutex mutex_;
    RateLimitedLog log_;  // under the mutex
};

/// In a catch block: is it the end of a coroutine that was cancelled, and so no fault?
bool is_cancelled() noexcept;

}  // namespace proxy
