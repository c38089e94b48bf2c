#pragma once

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <cstdint>
#include <mutex>
#include <string_view>

#include "proxy/telemetry/rate_limited_log.hpp"

namespace proxy {

/// Catches unexpected exceptions of event handlers, so the thread of an event loop goes on. The
/// handler that threw is lost, which closes its connection or ends its task. The barrier counts
/// each exception and logs it, with a limit on the rate. Any thread.
class ExceptionBarrier {
public:
    /// Runs `io` until it ends, through exceptions of its handlers. `thread`: name for the log.
    void run(boost::asio::io_context& io, std::string_view thread);
    /// Counts and logs the present exception of a catch block. `where`: place for the log.
    void note(std::string_view where);

    std::uint64_t caught() const { return caught_.load(std::memory_order_relaxed); }

private:
    std::atomic<std::uint64_t> caught_{0};
    std::mutex mutex_;
    RateLimitedLog log_;  // with the mutex
};

/// Whether the present exception of a catch block is the cancellation of a coroutine.
bool is_cancelled() noexcept;

}  // namespace proxy
