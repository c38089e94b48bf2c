#include "proxy/node/drain.hpp"

#include <spdlog/spdlog.h>

#include <boost/asio/co_spawn.hpp>
#include <chrono>
#include <utility>

#include "proxy/telemetry/barrier_handler.hpp"

namespace proxy {
namespace {

constexpr std::chrono::seconds kGoodbyeDeadline{1};  // for peers to read the goodbye

}  // namespace

void Drain::begin(std::function<void()> cut) {
    limit_.expires_after(node_.config->timeouts.drain);
    limit_.async_wait([cut = std::move(cut)](const boost::system::error_code& ec) {
        if (ec) return;
        spdlog::warn("the drain time is over: open connections are cut");
        cut();
    });
    boost::asio::co_spawn(node_.control, leave(), kToTheWall);
}

void Drain::end() {
    ended_ = true;
    limit_.cancel();
    grace_.cancel();
}

boost::asio::awaitable<void> Drain::leave() {
    auto& cluster = *node_.cluster;
    cluster.withdraw();
    const auto deadline = std::chrono::steady_clock::now() + kGoodbyeDeadline;
    co_await cluster.wait_withdrawn(deadline);
    if (ended_) co_return;  // the node has stopped meanwhile
    node_.clients.draining = true;
    const auto grace = node_.config->timeouts.drain_grace;
    if (grace > grace.zero()) {
        node_.each_worker(&Worker::retire);
        grace_.expires_after(grace);
        co_await grace_.async_wait(base::as_result);
        if (ended_) co_return;
    }
    spdlog::info("no new connections are taken");
    node_.each_worker(&Worker::drain);
}

}  // namespace proxy
