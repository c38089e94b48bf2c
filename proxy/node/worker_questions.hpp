#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <chrono>
#include <memory>
#include <utility>
#include <vector>

#include "base/async/awaited_value.hpp"
#include "proxy/node/worker.hpp"

namespace proxy {

inline constexpr std::chrono::seconds kWorkerDeadline{1};

/// Asks every worker for a value, on its own thread, and returns the values. A worker that is
/// silent for kWorkerDeadline is left out. Control thread.
template <class Value>
boost::asio::awaitable<std::vector<Value>> ask_workers(
    boost::asio::io_context& control, const std::vector<std::unique_ptr<Worker>>& workers,
    Value (*question)(const Worker&)) {
    std::vector<Value> values;
    for (const auto& each : workers) {
        auto& worker = *each;
        if (worker.finished.load(std::memory_order_acquire)) {
            values.push_back(question(worker));
            continue;
        }
        const auto reply = std::make_shared<base::AwaitedValue<Value>>(
            std::make_shared<base::Wakeup>(control.get_executor()));
        boost::asio::post(worker.io, [reply, &worker, question] { reply->give(question(worker)); });
        const auto deadline = std::chrono::steady_clock::now() + kWorkerDeadline;
        const auto in_time = co_await reply->wait_until(deadline);
        if (in_time) values.push_back(reply->value());
    }
    co_return values;
}

}  // namespace proxy
