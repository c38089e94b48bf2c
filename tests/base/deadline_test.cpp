#include "base/async/deadline.hpp"

#include <gtest/gtest.h>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/error.hpp>
#include <string>

#include "tests/base/coroutine.hpp"

namespace base::test {
namespace deadline_test {

using namespace std::chrono_literals;
namespace asio = boost::asio;

const auto kPast = Clock::time_point{};
const auto kFarAway = Clock::time_point::max();

awaitable<base::Result<int>> ready(int value) {
    co_return value;
}

awaitable<base::Result<int>> failing() {
    co_return make_error_code(Error::resolver_busy);
}

/// Waits for ever; says in `ended` that it no longer does.
awaitable<base::Result<int>> endless(bool& ended) {
    const std::shared_ptr<void> at_end(&ended,
                                       [](void* flag) { *static_cast<bool*>(flag) = true; });
    asio::steady_timer timer(co_await asio::this_coro::executor, kFarAway);
    const auto [error] = co_await timer.async_wait(as_result);
    co_return error;
}

/// As an operation that does not take kindly to being cancelled: it waits once more.
awaitable<base::Result<int>> waits_twice() {
    asio::steady_timer timer(co_await asio::this_coro::executor, kFarAway);
    co_await timer.async_wait(as_result);
    co_await timer.async_wait(as_result);
    co_return 1;
}

/// Has its result though it is cancelled, as a read that had just been done.
awaitable<base::Result<int>> done_when_cancelled() {
    asio::steady_timer timer(co_await asio::this_coro::executor, kFarAway);
    co_await timer.async_wait(as_result);
    co_return 9;
}

class Within : public ::testing::Test {
protected:
    asio::io_context io;
};

TEST_F(Within, GivesTheResultThatComesInTime) {
    EXPECT_EQ(run(io, within(kFarAway, ready(5))).value(), 5);
}

TEST_F(Within, PassesTheErrorOfTheOperationOn) {
    EXPECT_EQ(run(io, within(kFarAway, failing())).error(), Error::resolver_busy);
}

TEST_F(Within, SaysWhichWaitWasTooLong) {
    bool ended = false;
    const auto result = run(io, within(kPast, endless(ended), Error::connect_timeout));
    EXPECT_EQ(result.error(), Error::connect_timeout);
}

TEST_F(Within, SaysTimedOutWithoutABetterName) {
    bool ended = false;
    EXPECT_EQ(run(io, within(kPast, endless(ended))).error(), base::Error::timed_out);
}

TEST_F(Within, TakesATimeoutAsWell) {
    bool ended = false;
    EXPECT_EQ(run(io, within(1ms, endless(ended))).error(), base::Error::timed_out);
    EXPECT_EQ(run(io, within(10s, ready(6))).value(), 6);  // and does not wait for the rest of it
}

TEST_F(Within, AResultThatIsThereAnywayIsNotLost) {
    EXPECT_EQ(run(io, within(kPast, ready(7))).value(), 7);
    EXPECT_EQ(run(io, within(kPast, done_when_cancelled())).value(), 9);
}

TEST_F(Within, TheOperationHasEndedWhenItReturns) {
    bool ended = false;
    auto outer = [](bool& flag) -> awaitable<bool> {
        const auto result = co_await within(kPast, endless(flag));
        co_return !result && flag;
    };
    EXPECT_TRUE(run(io, outer(ended)));
}

TEST_F(Within, AnOperationThatWaitsOnIsEndedAllTheSame) {
    EXPECT_EQ(run(io, within(kPast, waits_twice())).error(), base::Error::timed_out);
}

TEST_F(Within, UnderstandsWhatAsioOperationsGive) {
    auto wait_until = [](Clock::time_point until,
                         Clock::time_point deadline) -> awaitable<base::Result<void>> {
        asio::steady_timer timer(co_await asio::this_coro::executor, until);
        co_return co_await within(deadline, timer.async_wait(as_result));
    };
    EXPECT_TRUE(run(io, wait_until(kPast, kFarAway)));
    EXPECT_EQ(run(io, wait_until(kFarAway, kPast)).error(), base::Error::timed_out);
}

TEST_F(Within, CancellingTheCallerCancelsTheOperation) {
    bool ended = false;
    std::optional<base::Result<int>> result;
    auto outer = [](bool& flag, std::optional<base::Result<int>>& out) -> awaitable<void> {
        const auto outcome = co_await within(kFarAway, endless(flag));
        out.emplace(outcome);
    };
    asio::cancellation_signal signal;
    auto done = [](const std::exception_ptr& exception) { EXPECT_FALSE(exception); };
    asio::co_spawn(io, outer(ended, result), asio::bind_cancellation_slot(signal.slot(), done));
    io.poll();
    EXPECT_FALSE(result);
    signal.emit(asio::cancellation_type::terminal);
    io.run();
    ASSERT_TRUE(result);
    EXPECT_EQ(result->error(), asio::error::operation_aborted);
    EXPECT_TRUE(ended);
}

}  // namespace deadline_test
}  // namespace base::test
