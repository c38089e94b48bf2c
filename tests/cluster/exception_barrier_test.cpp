#include "proxy/telemetry/exception_barrier.hpp"

#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <boost/system/system_error.hpp>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <thread>

#include "base/async/task_group.hpp"
#include "base/net/listen.hpp"
#include "proxy/admin/server.hpp"
#include "proxy/node/worker.hpp"
#include "proxy/telemetry/barrier_handler.hpp"
#include "tests/cluster/client.hpp"
#include "tests/proxy/admin/silent_node.hpp"

namespace proxy::test {
namespace fault_wall_test {

namespace asio = boost::asio;

asio::awaitable<void> fails() {
    throw std::runtime_error("on purpose");
    co_return;
}

TEST(ExceptionBarrier, KeepsAnEventLoopTurningThroughExceptionsOfHandlers) {
    asio::io_context io(1);
    ExceptionBarrier wall;
    base::TaskGroup tasks(io.get_executor());
    int ran = 0;
    asio::post(io, [] { throw std::runtime_error("on purpose"); });
    asio::post(io, [] { throw 1; });
    asio::post(io, [&] { tasks.spawn(fails()); });
    asio::post(io, [&] { asio::co_spawn(io, fails(), kToTheWall); });
    asio::post(io, [&] { ++ran; });
    wall.run(io, "test");
    EXPECT_EQ(ran, 1);
    EXPECT_EQ(wall.caught(), 4u);
    EXPECT_EQ(tasks.size(), 0u);
}

TEST(ExceptionBarrier, DistinguishesACancellationFromAFault) {
    const auto cancelled = [](const auto& what) {
        try {
            throw what;
        } catch (...) {
            return is_cancelled();
        }
    };
    EXPECT_TRUE(cancelled(boost::system::system_error(asio::error::operation_aborted)));
    EXPECT_FALSE(cancelled(boost::system::system_error(asio::error::eof)));
    EXPECT_FALSE(cancelled(std::runtime_error("")));
    EXPECT_FALSE(cancelled(1));
}

class FaultyNode final : public SilentNode {
public:
    asio::awaitable<NodeStatus> status() override {
        throw nlohmann::json::type_error::create(316, "on purpose", nullptr);
        co_return NodeStatus{};
    }
};

class FaultyEvents final : public NodeEvents {
public:
    void push(KeyChange) override {}
    void push(NodeEvent) override { throw std::runtime_error("on purpose"); }
};

TEST(ExceptionBarrier, AnswersAnExceptionOfAnAdminHandlerWith500) {
    asio::io_context io(1);
    ExceptionBarrier wall;
    FaultyNode node;
    AdminServer server(io, {"127.0.0.1", 0}, node, wall);
    server.start();
    std::thread thread([&] { wall.run(io, "test"); });
    Client client("127.0.0.1", server.port());
    client.host = "127.0.0.1";
    EXPECT_EQ(client.get("/api/v1/status").status, 500u);
    EXPECT_EQ(client.get("/healthz").status, 200u) << "the connection goes on";
    asio::post(io, [&] { server.stop(); });
    thread.join();
    EXPECT_EQ(wall.caught(), 1u);
}

TEST(ExceptionBarrier, AnswersAnExceptionOfAClientRequestWith500) {
    Config config;
    config.node = "a";
    config.listen = {"127.0.0.1", 0};
    const auto settings = std::make_shared<const LoadedConfig>(std::move(config));
    FaultyEvents events;
    SharedCache cache(*settings,
                      summary::KeyHasher(std::array<std::byte, summary::KeyHasher::kSecretBytes>{}),
                      events);
    SharedClientState clients(*settings, events);
    const ConfigInEffect in_effect(settings);
    Worker worker(cache, clients, in_effect, base::listen_shared(settings->listen, 1).front());
    worker.start();
    const auto port = worker.acceptor.port();
    std::thread thread([&] { worker.run(); });
    Client client("127.0.0.1", port);
    EXPECT_EQ(client.ask("PURGE", "http://h/a").status, 500u);
    EXPECT_TRUE(client.at_end());
    EXPECT_GE(Client("127.0.0.1", port).get("http://h/a").status, 400u) << "the worker goes on";
    asio::post(worker.io, [&] { worker.stop(); });
    thread.join();
    EXPECT_EQ(clients.faults.caught(), 1u);
    EXPECT_EQ(worker.counters.requests[Outcome::error], 1u);
    EXPECT_EQ(worker.counters.requests[Outcome::refused], 1u) << "no entry is for it";
    cache.close();
}

}  // namespace fault_wall_test
}  // namespace proxy::test
