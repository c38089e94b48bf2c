#include "proxy/upstream/upstream_pool.hpp"

#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/write.hpp>

#include <array>
#include <optional>
#include <string>

#include "proxy/upstream/exchange.hpp"
#include "tests/base/silent_listener.hpp"

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
            auto acquired = co_await from.acquire(to, deadline, ConnectionReuse::any);
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

    static base::Resolver::Options two_addresses(asio::io_context& io) {
        base::Resolver::Options options;
        options.ask = [&io](const std::string&, std::function<void(base::NameAnswer)> done) {
            const base::NameAnswer answer{
                base::NameAnswer::Kind::found,
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
    base::test::SilentListener silent{io, "127.0.0.4", good.port()};
    base::TimerWheel wheel{io.get_executor()};
    ConfigInEffect config{std::make_shared<const LoadedConfig>()};
    base::MemoryBudget windows{1 << 20};
    std::uint64_t peer_handshakes = 0;
    UpstreamPool pool{io.get_executor(), wheel,           config,
                      windows,           peer_handshakes, two_addresses(io)};
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

TEST_F(UpstreamPoolTest, AClosedDestinationIsNotTried) {
    EXPECT_EQ(acquire(20s, true).error, FetchError::not_allowed);
}

TEST_F(UpstreamPoolTest, ClientsDoNotReachThePlaceOfAPeer) {
    auto allowing = std::make_shared<LoadedConfig>();
    allowing->forward.private_destinations = Destinations::allow;
    config.replace(allowing, {});
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

/// Connections to a server of the test's own, kept by a pool and used again.
class KeptConnectionTest : public ::testing::Test {
protected:
    static constexpr const char* kName = "moves.test";
    static constexpr const char* kRequest = "POST / HTTP/1.1\r\nContent-Length: 0\r\n\r\n";

    void run(asio::awaitable<void> what) {
        bool done = false;
        asio::co_spawn(io, std::move(what), [&done](const std::exception_ptr& e) {
            done = true;
            if (e) std::rethrow_exception(e);
        });
        io.restart();
        while (!done) io.run_one();
    }
    UpstreamTarget target(const char* host = kName) const {
        return {{host, listener.local_endpoint().port()}};
    }
    static Clock::time_point soon() { return Clock::now() + 30s; }

    UpstreamPtr acquire(ConnectionReuse kept, const char* host = kName) {
        UpstreamPtr into;
        run([](UpstreamPool& from, UpstreamTarget to, ConnectionReuse how,
               UpstreamPtr& result) -> asio::awaitable<void> {
            auto acquired = co_await from.acquire(to, soon(), how);
            if (acquired) result = std::move(*acquired);
        }(pool, target(host), kept, into));
        return into;
    }
    /// The address of the connection that a request would go out on, which is kept then.
    std::string address_used() {
        auto connection = acquire(ConnectionReuse::any);
        if (!connection) return "none";
        const auto text = connection->remote.address().to_string();
        pool.release(std::move(connection));
        return text;
    }

    // The steps of an exchange; the server's are between them.
    FetchError connect(proxy::Exchange& exchange, ConnectionReuse kept) {
        auto error = FetchError::none;
        run([](proxy::Exchange& with, UpstreamTarget to, ConnectionReuse how,
               FetchError& result) -> asio::awaitable<void> {
            result = co_await with.connect(to, soon(), how);
        }(exchange, target("127.0.0.3"), kept, error));
        return error;
    }
    FetchError send(proxy::Exchange& exchange, std::string_view bytes = kRequest) {
        auto error = FetchError::none;
        run([](proxy::Exchange& with, std::string_view what,
               FetchError& result) -> asio::awaitable<void> {
            result = co_await with.send(what, soon());
        }(exchange, bytes, error));
        return error;
    }
    FetchError receive(proxy::Exchange& exchange) {
        auto error = FetchError::none;
        run([](proxy::Exchange& with, FetchError& result) -> asio::awaitable<void> {
            result = co_await with.receive_head(false, soon());
        }(exchange, error));
        return error;
    }
    static void take_request(tcp::socket& server) {
        std::array<char, 256> bytes;
        server.read_some(asio::buffer(bytes));
    }
    /// A connection that has carried a request is in the pool; its other end.
    tcp::socket kept() {
        proxy::Exchange exchange(pool, HeadLimits{});
        EXPECT_EQ(connect(exchange, ConnectionReuse::none), FetchError::none);
        auto server = listener.accept();
        EXPECT_EQ(send(exchange), FetchError::none);
        take_request(server);
        asio::write(server, asio::buffer("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", 38));
        EXPECT_EQ(receive(exchange), FetchError::none);
        exchange.finish();
        return server;
    }
    /// Connects `exchange` by a recent kept connection, and returns its other end. On a busy
    /// machine a kept connection may be too old at once, so this tries five of them.
    tcp::socket reuse(std::optional<proxy::Exchange>& exchange) {
        for (int attempt = 0; attempt < 5; ++attempt) {
            auto server = kept();
            exchange.emplace(pool, HeadLimits{});
            EXPECT_EQ(connect(*exchange, ConnectionReuse::recent), FetchError::none);
            if (exchange->reused()) return server;
            listener.accept();  // the other end of the new connection that it has got
        }
        return tcp::socket(io);
    }
    /// Runs handlers until it holds, for as long as a test may take.
    template <class Condition>
    bool eventually(Condition holds) {
        for (const auto end = Clock::now() + 30s; Clock::now() < end;) {
            if (holds()) return true;
            io.restart();
            io.run_one_for(50ms);
        }
        return false;
    }

    base::Resolver::Options scripted() {
        base::Resolver::Options options;
        options.now = [this] { return now; };
        options.ask = [this](const std::string&, std::function<void(base::NameAnswer)> done) {
            ++asked;
            const base::NameAnswer answer{
                base::NameAnswer::Kind::found, {asio::ip::make_address(leads_to)}, 60s};
            asio::post(io, [done = std::move(done), answer] { done(answer); });
            return nullptr;
        };
        return options;
    }

    asio::io_context io;
    tcp::acceptor listener{io, {asio::ip::make_address("127.0.0.3"), 0}};
    tcp::acceptor elsewhere{
        io, {asio::ip::make_address("127.0.0.5"), listener.local_endpoint().port()}};
    std::string leads_to = "127.0.0.3";
    int asked = 0;
    Clock::time_point now = Clock::now();
    base::TimerWheel wheel{io.get_executor()};
    ConfigInEffect config{std::make_shared<const LoadedConfig>()};
    base::MemoryBudget windows{1 << 20};
    std::uint64_t peer_handshakes = 0;
    UpstreamPool pool{io.get_executor(), wheel, config, windows, peer_handshakes, scripted()};
};

TEST_F(KeptConnectionTest, IsUsedOnlyWhileItsNameLeadsThere) {
    EXPECT_EQ(address_used(), "127.0.0.3");
    leads_to = "127.0.0.5";
    EXPECT_EQ(address_used(), "127.0.0.3");  // the answer of before still counts
    EXPECT_EQ(asked, 1);
    now += 61s;
    // Nobody waits for the new answer, and all later requests go by it.
    EXPECT_EQ(address_used(), "127.0.0.3");
    EXPECT_EQ(asked, 2);
    io.restart();
    io.poll();
    EXPECT_EQ(address_used(), "127.0.0.5");
    EXPECT_EQ(address_used(), "127.0.0.5");
    EXPECT_EQ(asked, 2);
}

TEST_F(KeptConnectionTest, IsLeftAloneWhileItsNameLeadsElsewhere) {
    const auto first = acquire(ConnectionReuse::any).release();
    pool.release(UpstreamPtr(first));
    leads_to = "127.0.0.5";
    now += 61s;
    address_used();
    io.restart();
    io.poll();
    EXPECT_EQ(address_used(), "127.0.0.5");
    leads_to = "127.0.0.3";
    now += 61s;
    address_used();
    io.restart();
    io.poll();
    auto again = acquire(ConnectionReuse::any);
    ASSERT_TRUE(again);
    EXPECT_EQ(again.get(), first);
}

TEST_F(KeptConnectionTest, IsForRequestsThatCannotBeRepeatedIfItWasInUseAMomentAgo) {
    const auto first = acquire(ConnectionReuse::none).release();
    pool.release(UpstreamPtr(first));
    const auto released = Clock::now();
    auto again = acquire(ConnectionReuse::recent);
    // A busy machine may have taken longer than that.
    if (Clock::now() < released + kRecentlyUsed) {
        EXPECT_EQ(again.get(), first);
    }
}

TEST_F(KeptConnectionTest, MakesRoomForANewOneWhenItIsTooOld) {
    auto connection = acquire(ConnectionReuse::none);
    auto server = listener.accept();
    auto& idle = *connection;
    pool.release(std::move(connection));
    idle.idle_since -= kRecentlyUsed + 1ms;
    const auto fresh = acquire(ConnectionReuse::recent);
    ASSERT_TRUE(fresh);
    EXPECT_FALSE(fresh->is_used());
    std::array<char, 1> byte;
    boost::system::error_code end;
    server.read_some(asio::buffer(byte), end);
    EXPECT_EQ(end, asio::error::eof);
}

TEST_F(KeptConnectionTest, GoesAfterAMomentWhereItsOriginHasEnough) {
    auto few = std::make_shared<LoadedConfig>();
    few->workers = 4;  // each has two of them
    config.replace(few, {});
    std::vector<UpstreamPtr> connections;
    std::vector<tcp::socket> servers;
    for (int i = 0; i < 5; ++i) {
        connections.push_back(acquire(ConnectionReuse::none));
        servers.push_back(listener.accept());
        servers.back().non_blocking(true);
    }
    for (auto& connection : connections) pool.release(std::move(connection));
    const auto ended = [](tcp::socket& server) {
        std::array<char, 1> byte;
        boost::system::error_code end;
        server.read_some(asio::buffer(byte), end);
        return end == asio::error::eof;
    };
    // The oldest go.
    EXPECT_TRUE(
        eventually([&] { return ended(servers[0]) && ended(servers[1]) && ended(servers[2]); }));
    EXPECT_FALSE(ended(servers[3]));
    EXPECT_FALSE(ended(servers[4]));
}

TEST(IdleShare, IsThatOfEachWorker) {
    EXPECT_EQ(idle_share(8, 1), 8u);
    EXPECT_EQ(idle_share(8, 4), 2u);
    EXPECT_EQ(idle_share(8, 32), 1u);
    EXPECT_EQ(idle_share(0, 4), 0u);
}

TEST_F(KeptConnectionTest, WasNotReadIfItHadBeenClosedBeforeTheRequestCame) {
    std::optional<proxy::Exchange> reusing;
    auto server = reuse(reusing);
    ASSERT_TRUE(reusing->reused()) << "five kept connections were too old: the machine is busy";
    auto& exchange = *reusing;
    server.close();
    EXPECT_EQ(send(exchange), FetchError::none);
    EXPECT_EQ(receive(exchange), FetchError::reset);
    EXPECT_TRUE(exchange.was_unread());
}

TEST_F(KeptConnectionTest, WasNotReadAlsoIfAPartOfTheRequestCouldNotBeSentAnyMore) {
    std::optional<proxy::Exchange> reusing;
    auto server = reuse(reusing);
    ASSERT_TRUE(reusing->reused()) << "five kept connections were too old: the machine is busy";
    auto& exchange = *reusing;
    server.close();
    EXPECT_EQ(send(exchange), FetchError::none);
    EXPECT_EQ(send(exchange, "a body"), FetchError::reset);
    EXPECT_EQ(receive(exchange), FetchError::reset);
    EXPECT_TRUE(exchange.was_unread());
}

TEST_F(KeptConnectionTest, MayHaveBeenReadByWhoClosedBehindTheRequest) {
    std::optional<proxy::Exchange> reusing;
    auto server = reuse(reusing);
    ASSERT_TRUE(reusing->reused()) << "five kept connections were too old: the machine is busy";
    auto& exchange = *reusing;
    EXPECT_EQ(send(exchange), FetchError::none);
    take_request(server);
    server.close();
    EXPECT_EQ(receive(exchange), FetchError::reset);
    EXPECT_FALSE(exchange.was_unread());
}

TEST_F(KeptConnectionTest, MayHaveBeenReadByWhoResetIt) {
    std::optional<proxy::Exchange> reusing;
    auto server = reuse(reusing);
    ASSERT_TRUE(reusing->reused()) << "five kept connections were too old: the machine is busy";
    auto& exchange = *reusing;
    EXPECT_EQ(send(exchange), FetchError::none);
    server.close();  // with the request unread in its buffer: a reset
    EXPECT_EQ(receive(exchange), FetchError::reset);
    EXPECT_FALSE(exchange.was_unread());
}

TEST_F(KeptConnectionTest, SaysNothingOfANewOne) {
    proxy::Exchange exchange(pool, HeadLimits{});
    ASSERT_EQ(connect(exchange, ConnectionReuse::recent), FetchError::none);
    auto server = listener.accept();
    server.close();
    EXPECT_EQ(send(exchange), FetchError::none);
    EXPECT_EQ(receive(exchange), FetchError::reset);
    EXPECT_FALSE(exchange.was_unread());
}

}  // namespace upstream_pool_test
}  // namespace proxy::test
