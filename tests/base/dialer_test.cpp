#include "base/net/dialer.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <list>

#include "base/async/task_group.hpp"
#include "tests/base/coroutine.hpp"
#include "tests/base/silent_listener.hpp"

namespace base::test {
namespace dialer_test {

using namespace std::chrono_literals;
namespace asio = boost::asio;
using tcp = asio::ip::tcp;
using Connected = base::Result<std::shared_ptr<tcp::socket>>;

awaitable<Connected> dial(Dialer& dialer, Endpoints addresses, Clock::time_point deadline) {
    auto socket = co_await dialer.connect("place", std::move(addresses), deadline);
    if (!socket) co_return socket.error();
    co_return std::make_shared<tcp::socket>(std::move(*socket));
}

std::size_t open_descriptors() {
    const std::filesystem::directory_iterator all("/proc/self/fd");
    return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

class DialerTest : public ::testing::Test {
protected:
    Connected connect(const Endpoints& addresses, Clock::duration time = 20s) {
        return run(io, dial(dialer, addresses, Clock::now() + time));
    }
    static tcp::endpoint to(const Connected& connected) { return (*connected)->remote_endpoint(); }
    /// A port that is held and not listened on.
    tcp::endpoint refusing() {
        auto& held = held_.emplace_back(io, tcp::v4());
        held.bind({asio::ip::make_address("127.0.0.5"), 0});
        return held.local_endpoint();
    }

    asio::io_context io;
    tcp::acceptor listener{io, {asio::ip::make_address("127.0.0.3"), 0}};
    tcp::endpoint good = listener.local_endpoint();
    SilentListener silent{io, "127.0.0.4"};
    tcp::endpoint dead = silent.endpoint();
    Dialer dialer{io.get_executor()};

private:
    std::list<tcp::socket> held_;
};

TEST_F(DialerTest, ADeadAddressCostsAMomentOnce) {
    auto began = Clock::now();
    auto first = connect({dead, good});
    ASSERT_TRUE(first);
    EXPECT_EQ(to(first), good);
    EXPECT_GE(Clock::now() - began, kDialPace);
    EXPECT_LT(Clock::now() - began, 10s);  // and not the deadline
    // The next time the good one is tried first, whatever the other would do now.
    silent.speak();
    const auto again = connect({dead, good});
    ASSERT_TRUE(again);
    EXPECT_EQ(to(again), good);
}

TEST_F(DialerTest, AnAddressThatRefusesCostsNothing) {
    const auto refused = refusing();
    const auto connected = connect({refused, good});
    ASSERT_TRUE(connected);
    EXPECT_EQ(to(connected), good);
}

TEST_F(DialerTest, TheGoodAddressFailsAndTheOthersAreTried) {
    ASSERT_TRUE(connect({dead, good}));
    listener.close();
    tcp::acceptor other(io, {asio::ip::make_address("127.0.0.6"), 0});
    const auto connected = connect({dead, good, other.local_endpoint()});
    ASSERT_TRUE(connected);
    EXPECT_EQ(to(connected), other.local_endpoint());
}

TEST_F(DialerTest, WhenNobodyAnswersItIsATimeout) {
    EXPECT_EQ(connect({dead}, 20ms).error(), base::Error::connect_timeout);
    EXPECT_EQ(connect({dead, refusing()}, 100ms).error(), base::Error::connect_timeout);
}

TEST_F(DialerTest, ReportsTheReasonWhenAllRefuse) {
    EXPECT_EQ(connect({refusing()}).error(), asio::error::connection_refused);
    EXPECT_EQ(connect({refusing(), refusing()}).error(), asio::error::connection_refused);
}

TEST_F(DialerTest, LosersAreClosed) {
    ASSERT_TRUE(connect({good}));  // what the loop itself opens is open now
    const auto before = open_descriptors();
    {
        const auto connected = connect({dead, good});
        ASSERT_TRUE(connected);
        EXPECT_EQ(open_descriptors(), before + 1);
    }
    EXPECT_FALSE(connect({dead, dead, dead}, 40ms));
    EXPECT_EQ(open_descriptors(), before);
}

TEST_F(DialerTest, ACancelledCallerLeavesNothingBehind) {
    ASSERT_TRUE(connect({good}));
    const auto before = open_descriptors();
    auto wait = [](Dialer& with, Endpoints to,
                   boost::system::error_code& reason) -> awaitable<void> {
        const auto connected = co_await dial(with, std::move(to), Clock::time_point::max());
        if (!connected) reason = connected.error();
    };
    boost::system::error_code why;
    TaskGroup tasks(io.get_executor());
    tasks.spawn(wait(dialer, Endpoints{dead}, why));
    io.restart();
    io.poll();
    EXPECT_EQ(open_descriptors(), before + 1);
    tasks.cancel();
    io.restart();
    io.run();
    EXPECT_EQ(why, asio::error::operation_aborted);
    EXPECT_EQ(open_descriptors(), before);
}

TEST_F(DialerTest, AnAddressThatIsNotTrustedIsTriedLast) {
    tcp::acceptor other(io, {asio::ip::make_address("127.0.0.6"), 0});
    const Endpoints both{good, other.local_endpoint()};
    ASSERT_EQ(to(connect(both)), good);
    dialer.distrust("place", good);
    EXPECT_EQ(to(connect(both)), other.local_endpoint());
}

}  // namespace dialer_test
}  // namespace base::test
