#include "proxy/telemetry/exception_barrier.hpp"

#include <spdlog/spdlog.h>

#include <boost/asio/error.hpp>
#include <boost/system/system_error.hpp>
#include <chrono>
#include <exception>
#include <optional>
#include <string>

#include "base/text/plain_message.hpp"

namespace proxy {
namespace {

std::string words() {
    try {
        throw;
    } catch (const std::exception& error) {
        return base::plain_message(error);
    } catch (...) {
        return "something that is no std::exception";
    }
}

}  // namespace

void ExceptionBarrier::run(boost::asio::io_context& io, std::string_view thread) {
    for (;;) {
        try {
            io.run();
            return;
        } catch (...) {
            note(thread);
        }
    }
}

void ExceptionBarrier::note(std::string_view where) {
    caught_.fetch_add(1, std::memory_order_relaxed);
    const auto what = words();
    std::optional<std::string> more;
    {
        const std::lock_guard lock(mutex_);
        more = log_.admit(where, std::chrono::steady_clock::now());
    }
    if (more)
        spdlog::error("{}: an error that is not expected, please report it: {}{}", where, what,
                      *more);
}

bool is_cancelled() noexcept {
    try {
        throw;
    } catch (const boost::system::system_error& error) {
        return error.code() == boost::asio::error::operation_aborted;
    } catch (...) {
        return false;
    }
}

}  // namespace proxy
