#pragma once

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <exception>
#include <optional>
#include <utility>

#include "base/async/deadline.hpp"

namespace base::test {

/// The place of a coroutine's result once the loop has turned.
template <typename T>
struct Pending {
    std::optional<T> value;
};

/// Starts `task` on the loop; `pending` must outlive it. An exception is a failure of the test.
template <typename T>
void start(boost::asio::io_context& io, awaitable<T> task, Pending<T>& pending) {
    boost::asio::co_spawn(io, std::move(task),
                          [&pending](const std::exception_ptr& exception, T value) {
                              if (exception) std::rethrow_exception(exception);
                              pending.value.emplace(std::move(value));
                          });
}

/// Runs the loop until it has no more work, and gives the result of `task`.
template <typename T>
T run(boost::asio::io_context& io, awaitable<T> task) {
    Pending<T> pending;
    start(io, std::move(task), pending);
    io.restart();
    io.run();
    return std::move(pending.value.value());
}

}  // namespace base::test
