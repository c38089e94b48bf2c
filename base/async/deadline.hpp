#pragma once

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/experimental/parallel_group.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <chrono>
#include <exception>
#include <tuple>
#include <utility>

#include "base/async/error.hpp"

namespace base {

using Clock = std::chrono::steady_clock;

template <typename T>
using awaitable = boost::asio::awaitable<T>;

/// Completion token: an error code in the result, never a throw.
///   const auto [error, bytes] = co_await socket.async_read_some(buffer, as_result);
inline constexpr auto as_result = boost::asio::as_tuple(boost::asio::use_awaitable);

namespace detail {

/// Converts the result of an operation to the result of `within`.
template <typename T>
struct Outcome;
template <typename T>
struct Outcome<Result<T>> {
    using type = Result<T>;
    static type from(Result<T> value) { return value; }
};
template <>
struct Outcome<std::tuple<boost::system::error_code>> {
    using type = Result<void>;
    static type from(const std::tuple<boost::system::error_code>& value) {
        if (const auto error = std::get<0>(value)) return error;
        return {};
    }
};
template <typename T>
struct Outcome<std::tuple<boost::system::error_code, T>> {
    using type = Result<T>;
    static type from(std::tuple<boost::system::error_code, T> value) {
        if (const auto error = std::get<0>(value)) return error;
        return std::move(std::get<1>(value));
    }
};

}  // namespace detail

/// Awaits `operation` until `deadline`; it is an awaitable of Result<T>, or of an Asio operation
/// under `as_result`. At the deadline the operation is cancelled, and the result is `late`. The
/// cancelled operation has ended when this returns; a result that it had ready is returned. When
/// the caller is cancelled, so is the operation, and the result is operation_aborted.
template <typename T>
awaitable<typename detail::Outcome<T>::type> within(
    Clock::time_point deadline, awaitable<T> operation,
    boost::system::error_code late = make_error_code(Error::timed_out)) {
    using Outcome = detail::Outcome<T>;
    const auto executor = co_await boost::asio::this_coro::executor;
    boost::asio::steady_timer timer(executor, deadline);
    auto group = boost::asio::experimental::make_parallel_group(
        boost::asio::co_spawn(executor, std::move(operation), boost::asio::deferred),
        timer.async_wait(boost::asio::deferred));
    auto [order, exception, value, timer_error] = co_await std::move(group).async_wait(
        boost::asio::experimental::wait_for_one(), boost::asio::use_awaitable);
    const bool expired = order[0] == 1 && !timer_error;
    if (!exception) {
        auto result = Outcome::from(std::move(value));
        if (result || !expired) co_return result;
    } else if (!expired) {
        try {
            std::rethrow_exception(exception);
        } catch (const boost::system::system_error& error) {
            co_return error.code();  // cancelled between two of its waits
        }
    }
    co_return late;
}

template <typename T>
awaitable<typename detail::Outcome<T>::type> within(
    Clock::duration timeout, awaitable<T> operation,
    boost::system::error_code late = make_error_code(Error::timed_out)) {
    return within(Clock::now() + timeout, std::move(operation), late);
}

}  // namespace base
