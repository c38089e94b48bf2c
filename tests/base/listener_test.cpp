#include "base/net/listener.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/write.hpp>
#include <list>

#include "base/async/deadline.hpp"

namespace base {
namespace listener_test {

namespace asio = boost::asio;
using tcp = asio::ip::tcp;
using error_code = boost::system::error_code;

class ListenerTest : public ::testing::Test {
protected:
    ListenerTest() {
        EXPECT_FALSE(listener.listen({asio::ip::address_v4::loopback(), 0}));
        at = {asio::ip::address_v4::loopback(), listener.port()};
    }
    void run(Listener::Hooks hooks) {
        hooks.take = [this](tcp::socket&& socket, const tcp::endpoint& from) {
            EXPECT_EQ(from, socket.remote_endpoint());
            tcp::no_delay sends_at_once;
            socket.get_option(sends_at_once);
            EXPECT_TRUE(sends_at_once.value());
            EXPECT_TRUE(socket.non_blocking());
            EXPECT_TRUE(::fcntl(socket.native_handle(), F_GETFL) & O_NONBLOCK);
            EXPECT_TRUE(::fcntl(socket.native_handle(), F_GETFD) & FD_CLOEXEC);
            taken.push_back(std::move(socket));
        };
        asio::co_spawn(io, listener.run(std::move(hooks)), [this](const std::exception_ptr& bug) {
            if (bug) std::rethrow_exception(bug);
            ended = true;
        });
        io.poll();
    }
    tcp::socket& connect() {
        auto& client = clients.emplace_back(io);
        client.connect(at);
        return client;
    }
    /// A caller that asks for it would wait if the other side had done nothing.
    static bool is_closed(tcp::socket& client) {
        char byte = 0;
        error_code error;
        client.read_some(asio::buffer(&byte, 1), error);
        return error == asio::error::eof || error == asio::error::connection_reset;
    }
    void turn_for(Clock::duration time) {
        io.restart();
        io.run_for(time);
    }

    asio::io_context io{1};
    Listener listener{io.get_executor()};
    tcp::endpoint at;
    std::list<tcp::socket> clients, taken;
    bool ended = false;
};

TEST_F(ListenerTest, TakesAllWhoWaitInOneTurn) {
    for (int i = 0; i < 10; ++i) connect();
    run({});
    io.poll();
    EXPECT_EQ(taken.size(), 10u);
    EXPECT_FALSE(ended);
    listener.close();
    io.restart();
    io.run();
    EXPECT_TRUE(ended);
}

TEST_F(ListenerTest, TakesThoseWhoComeAloneAndTheCrowdsBetweenThem) {
    run({});
    std::size_t all = 0;
    for (int turn = 0; turn < 40; ++turn) {
        const auto together = turn % 10 == 9 ? 5 : 1;
        for (int i = 0; i < together; ++i) connect();
        all += static_cast<std::size_t>(together);
        io.poll();
        EXPECT_EQ(taken.size(), all) << "turn " << turn;
    }
}

TEST_F(ListenerTest, ClosesWhatItHasGivenAwayForGood) {
    run({});
    auto& client = connect();
    io.poll();
    ASSERT_EQ(taken.size(), 1u);
    char byte = 0;
    error_code of_read;
    taken.back().async_read_some(asio::buffer(&byte, 1),
                                 [&](error_code error, std::size_t) { of_read = error; });
    io.poll();
    taken.clear();
    EXPECT_TRUE(is_closed(client));
    io.poll();
    EXPECT_EQ(of_read, asio::error::operation_aborted);
    // The next one has the descriptor of the one before.
    auto& next = connect();
    io.poll();
    ASSERT_EQ(taken.size(), 1u);
    of_read = asio::error::would_block;
    taken.back().async_read_some(asio::buffer(&byte, 1),
                                 [&](error_code error, std::size_t) { of_read = error; });
    io.poll();
    EXPECT_EQ(of_read, asio::error::would_block);
    asio::write(next, asio::buffer("x", 1));
    io.poll();
    EXPECT_FALSE(of_read);
    EXPECT_EQ(byte, 'x');
}

TEST_F(ListenerTest, LeavesThemInTheKernelWhileThereIsNoRoom) {
    bool room = false;
    Listener::Hooks hooks;
    hooks.room = [&room] { return room; };
    connect();
    run(std::move(hooks));
    turn_for(2 * kAcceptPause);
    EXPECT_EQ(taken.size(), 0u);
    room = true;
    turn_for(2 * kAcceptPause);
    EXPECT_EQ(taken.size(), 1u);
}

TEST_F(ListenerTest, ClosesWhoWaitsWhenNoDescriptorIsLeft) {
    std::size_t reported = 0;
    error_code why;
    Listener::Hooks hooks;
    hooks.trouble = [&](error_code error, std::size_t refused) {
        why = error;
        reported += refused;
    };
    auto& client = connect();
    rlimit before{};
    ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
    const int next = ::open("/dev/null", O_RDONLY | O_CLOEXEC);  // the lowest that is free
    ASSERT_GE(next, 0);
    ::close(next);
    const rlimit tight{static_cast<rlim_t>(next), before.rlim_max};
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &tight), 0);
    run(std::move(hooks));
    io.poll();
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
    EXPECT_EQ(why, asio::error::no_descriptors);
    EXPECT_EQ(reported, 1u);
    EXPECT_TRUE(is_closed(client));
    connect();
    turn_for(2 * kAcceptPause);
    EXPECT_EQ(taken.size(), 1u);  // it goes on
}

TEST_F(ListenerTest, DrainTakesWhoIsThereAndNobodyAfter) {
    connect();
    connect();
    listener.drain(
        [this](tcp::socket&& socket, const tcp::endpoint&) { taken.push_back(std::move(socket)); });
    EXPECT_EQ(taken.size(), 2u);
    EXPECT_FALSE(listener.is_open());
    EXPECT_EQ(listener.port(), 0);
    tcp::socket late(io);
    error_code error;
    late.connect(at, error);
    EXPECT_EQ(error, asio::error::connection_refused);
}

TEST_F(ListenerTest, AnotherGoesOnWithTheSocketItGivesAway) {
    run({});
    Listener next(io.get_executor());
    next.assign(listener.release());
    io.restart();
    io.poll();
    EXPECT_TRUE(ended);
    EXPECT_EQ(next.port(), at.port());
    connect();
    next.drain(
        [this](tcp::socket&& socket, const tcp::endpoint&) { taken.push_back(std::move(socket)); });
    EXPECT_EQ(taken.size(), 1u);
}

TEST_F(ListenerTest, SaysWhyItCannotListen) {
    Listener second(io.get_executor());
    EXPECT_EQ(second.listen(at), asio::error::address_in_use);
    EXPECT_FALSE(second.is_open());
}

}  // namespace listener_test
}  // namespace base
