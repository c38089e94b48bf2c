#include "protocol/membership/dial_permits.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <deque>

#include "base/async/task_group.hpp"

namespace protocol::test {
namespace dial_permits_test {

namespace asio = boost::asio;

class DialPermitsTest : public ::testing::Test {
protected:
    /// Somebody asks for a permit; which one it gets stands in `got` then.
    DialPermits::Permit& ask() {
        auto& permit = got.emplace_back();
        auto take = [](DialPermits& from, DialPermits::Permit& into) -> base::awaitable<void> {
            into = co_await from.take();
        };
        tasks.spawn(take(permits, permit));
        turn();
        return permit;
    }
    void turn() {
        io.restart();
        io.poll();
    }
    std::size_t held() const {
        return static_cast<std::size_t>(std::count_if(
            got.begin(), got.end(), [](const auto& permit) { return permit.held(); }));
    }

    asio::io_context io;
    DialPermits permits{io.get_executor()};
    base::TaskGroup tasks{io.get_executor()};
    std::deque<DialPermits::Permit> got;
};

TEST_F(DialPermitsTest, SoManyAtATimeAndOneMoreForEachThatIsGivenBack) {
    for (std::size_t i = 0; i < kFirstDialPermits + 3; ++i) ask();
    EXPECT_EQ(held(), kFirstDialPermits);
    got[0].give_back();
    got[0].give_back();
    turn();
    EXPECT_EQ(held(), kFirstDialPermits);
    EXPECT_FALSE(got[0].held());
    got[1] = {};  // its end
    got[2].give_back();
    turn();
    EXPECT_EQ(held(), kFirstDialPermits);
    got[3].give_back();
    turn();
    EXPECT_EQ(held(), kFirstDialPermits - 1) << "nobody waits any more";
    EXPECT_EQ(permits.taken(), kFirstDialPermits - 1);
}

TEST_F(DialPermitsTest, FewerWhenAHelloWasLateMoreWhileTheyAreNot) {
    for (std::size_t i = 0; i < 2 * kFirstDialPermits; ++i) ask();
    for (std::size_t i = 0; i < kFirstDialPermits; ++i) permits.hello_succeeded();
    turn();
    EXPECT_EQ(held(), kFirstDialPermits + 1);
    permits.hello_was_late();
    EXPECT_EQ(permits.limit(), (kFirstDialPermits + 1) / 2);
    got[0].give_back();
    turn();
    EXPECT_EQ(held(), kFirstDialPermits) << "more than that many have one still";
    for (int i = 0; i < 10; ++i) permits.hello_was_late();
    EXPECT_EQ(permits.limit(), kMinDialPermits);
    for (int i = 0; i < 10'000; ++i) permits.hello_succeeded();
    EXPECT_EQ(permits.limit(), kMaxDialPermits);
}

TEST_F(DialPermitsTest, ACancelledWaiterGetsNoneAndIsForgotten) {
    for (std::size_t i = 0; i < kFirstDialPermits; ++i) ask();
    auto& late = ask();
    tasks.cancel();
    turn();
    EXPECT_EQ(tasks.size(), 0U);
    EXPECT_FALSE(late.held());
    got[0].give_back();
    EXPECT_EQ(permits.taken(), kFirstDialPermits - 1);
}

TEST_F(DialPermitsTest, APermitMayBeHeldForSoLongOnly) {
    auto& permit = ask();
    asio::steady_timer never(io, base::Clock::time_point::max());
    permit.give_back_at(never);
    never.cancel();
    turn();
    EXPECT_TRUE(permit.held());
    asio::steady_timer now(io, base::Clock::time_point::min());
    permit.give_back_at(now);
    turn();
    EXPECT_FALSE(permit.held());
    EXPECT_EQ(permits.taken(), 0U);
}

}  // namespace dial_permits_test
}  // namespace protocol::test
