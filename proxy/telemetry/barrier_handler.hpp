#pragma once

#include <boost/asio/error.hpp>
#include <boost/system/system_error.hpp>
#include <exception>

namespace proxy {

/// Completion handler of asio::co_spawn() for a coroutine that runs on its own. Its exceptions
/// leave the event loop and reach the ExceptionBarrier; asio::detached would drop them. A
/// cancellation is an ordinary end.
struct BarrierHandler {
    void operator()(const std::exception_ptr& thrown) const {
        if (!thrown) return;
        try {
            std::rethrow_exception(thrown);
        } catch (const boost::system::system_error& error) {
            if (error.code() != boost::asio::error::operation_aborted) throw;
        }
    }
};
inline constexpr BarrierHandler kToTheWall;

}  // namespace proxy
