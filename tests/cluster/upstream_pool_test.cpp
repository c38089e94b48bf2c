#include "proxy/upstream/upstream_pool.hpp"

#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>

#include "proxy/upstream/exchange.hpp"
#include "tests/protocol/silent_listener.hpp"

namespace proxy::test {
namespace upstream_pool_test {

using namespace std::chrono_literals;
namespace asio = boost::asio;
using tcp = asio::ip::tcp;
using Clock = std::chrono::steady_clock;

/// A pool for which every name has two addresses: one from which nothing comes, and a good one.
class UpstreamPoolTest : public ::testing::Test {
protected:
    struct Gave {
        UpstreamPtr connection;
        FetchError error = FetchError::none;
    };

    Gave acquire(Clock::duration time, bool on_clients_word = false) {
        const UpstreamTarget target{{"two-addresses", good.port()}, on_clients_word};
        Gave gave;
        auto ask = [](UpstreamPool& from, const UpstreamTarget& to, Clock::time_point deadline,
                      Gave& into) -> asio::awaitable<void> {
            auto acquired = co_await from.acquire(to, deadline, true);
            if (acquired)
                into.connection = std::move(*acquired);
            else
                into.error = acquired.error();
        };
        bool done = false;
        asio::co_spawn(io, ask(pool, target, Clock::now() + time, gave),
                       [&done](const std::exception_ptr& e) {
                           done = true;
                           if (e) std::rethrow_exception(e);
                       });
        io.restart();
        while (!done) io.run_one();
        return gave;
    }

    static protocol::Resolver::Options two_addresses(asio::io_context& io) {
        protocol::Resolver::Options options;
        options.ask = [&io](const std::string&, std::function<void(protocol::NameAnswer)> done) {
            const protocol::NameAnswer answer{
                protocol::NameAnswer::Kind::found,
                {asio::ip::make_address("127.0.0.4"), asio::ip::make_address("127.0.0.3")},
                60s};
            asio::post(io, [done = std::move(done), answer] { done(answer); });
            return nullptr;
        };
        return options;
    }

    asio::io_context io;
    tcp::acceptor listener{io, {asio::ip::make_address("127.0.0.3"), 0}};
    tcp::endpoint good = listener.local_endpoint();
    protocol::test::SilentListener silent{io, "127.0.0.4", good.port()};
    TimerWheel wheel{io.get_executor()};
    protocol::Resolver resolver{io.get_executor(), two_addresses(io)};
    std::shared_ptr<const Config> config = std::make_shared<const Config>();
    MemoryBudget windows{1 << 20};
    UpstreamPool pool{io.get_executor(), wheel, resolver, config, windows};
};

TEST_F(UpstreamPoolTest, OneDeadAddressOfTwoDoesNotCostTheDeadline) {
    const auto first = acquire(20s);
    ASSERT_TRUE(first.connection) << to_string(first.error);
    EXPECT_EQ(first.connection->socket.remote_endpoint(), good);
    // The good one is remembered, whatever the other would do now.
    silent.speak();
    const auto second = acquire(20s);
    ASSERT_TRUE(second.connection) << to_string(second.error);
    EXPECT_EQ(second.connection->socket.remote_endpoint(), good);
}

TEST_F(UpstreamPoolTest, WhatMayNotBeConnectedToIsNotTried) {
    EXPECT_EQ(acquire(20s, true).error, FetchError::not_allowed);
}

TEST_F(UpstreamPoolTest, WhereAPeerWasFoundNoClientIsLetTo) {
    auto allowing = std::make_shared<Config>();
    allowing->forward.private_destinations = Destinations::allow;
    config = allowing;
    auto kept = acquire(20s, true);
    ASSERT_TRUE(kept.connection) << to_string(kept.error);
    pool.release(std::move(kept.connection));
    const auto found = [&](const char* host, std::uint16_t http, std::uint16_t link) {
        pool.set_peer_places(std::make_shared<const std::vector<protocol::PeerPlace>>(
            std::vector<protocol::PeerPlace>{{host, http, link}}));
        return acquire(20s, true).error;
    };
    // By an SRV record's name and ports, which no configuration tells; by an address.
    EXPECT_EQ(found("two-addresses", 8080, good.port()), FetchError::own_listener);
    EXPECT_EQ(found("two-addresses", good.port(), 8081), FetchError::own_listener);
    pool.close_idle();
    EXPECT_EQ(found("two-addresses", 8080, 8081), FetchError::none);
    pool.set_peer_places(nullptr);
    EXPECT_EQ(acquire(20s, true).error, FetchError::none);
}

TEST_F(UpstreamPoolTest, AnAddressThatTakesARequestAndSaysNothingIsTriedLast) {
    silent.speak();  // it takes connections now, and no more
    proxy::Exchange exchange(pool, HeadLimits{});
    auto ask = [](proxy::Exchange& with, UpstreamTarget target) -> asio::awaitable<FetchError> {
        const proxy::Exchange::Request request{"GET / HTTP/1.1\r\n\r\n", false, true};
        const proxy::Exchange::Patience patience{Clock::now() + 20s, 50ms};
        co_return co_await with.run(target, request, patience);
    };
    auto error = FetchError::none;
    bool done = false;
    asio::co_spawn(io, ask(exchange, UpstreamTarget{{"two-addresses", good.port()}}),
                   [&](const std::exception_ptr& e, FetchError how) {
                       done = true;
                       error = how;
                       if (e) std::rethrow_exception(e);
                   });
    while (!done) io.run_one();
    ASSERT_EQ(error, FetchError::head_timeout);
    const auto gave = acquire(20s);
    ASSERT_TRUE(gave.connection) << to_string(gave.error);
    EXPECT_EQ(gave.connection->socket.remote_endpoint(), good);
}

TEST_F(UpstreamPoolTest, AnAddressThatGivesWayIsReplacedByTheOther) {
    ASSERT_TRUE(acquire(20s).connection);
    listener.close();
    silent.speak();
    const auto gave = acquire(20s);
    ASSERT_TRUE(gave.connection) << to_string(gave.error);
    EXPECT_EQ(gave.connection->socket.remote_endpoint(), silent.endpoint());
}

}  // namespace upstream_pool_test
}  // namespace proxy::test
