#pragma once

#include <boost/asio/error.hpp>
#include <boost/system/system_error.hpp>
#include <exception>

namespace proxy {

/// Ends a coroutine of asio::co_spawn() that nobody waits for: what it throws leaves the event
/// loop, where a FaultWall stands, while asio::detached would drop it without a word. A cancelled
/// one ended as it was to.
struct ToTheWall {
    void operator()(const std::exception_ptr& thrown) const {
        if (!thrown) return;
        try {
            std::rethrow_exception(thrown);
        } catch (const boost::system::system_error& error) {
            if (error.code() != boost::asio::error::operation_aborted) throw;
        }
    }
};
inline constexpr ToTheWall kToTheWall;

}  // namespace proxy
