#include "proxy/node/explain_url.hpp"

#include <atomic>
#include <boost/asio/post.hpp>
#include <chrono>
#include <memory>
#include <utility>

#include "base/async/awaited_value.hpp"

namespace proxy {
namespace {

namespace asio = boost::asio;

asio::awaitable<void> give_explanation(Cache& cache, CacheKey key,
                                       std::shared_ptr<base::AwaitedValue<Explanation>> reply) {
    auto explained = co_await explain(cache, std::move(key));
    reply->give(std::move(explained));
}

}  // namespace

asio::awaitable<std::optional<Explanation>> explain_url(Worker& worker, asio::io_context& control,
                                                        CacheKey key) {
    if (worker.finished.load(std::memory_order_acquire)) co_return std::nullopt;
    const auto reply = std::make_shared<base::AwaitedValue<Explanation>>(
        std::make_shared<base::Wakeup>(control.get_executor()));
    asio::post(worker.io, [&worker, reply, key = std::move(key)]() mutable {
        worker.upstream.fetches.spawn(give_explanation(worker.cache, std::move(key), reply));
    });
    const auto deadline = std::chrono::steady_clock::now() + 2 * kLookAtPeers;
    const auto in_time = co_await reply->wait_until(deadline);
    if (!in_time) co_return std::nullopt;
    co_return reply->value();
}

}  // namespace proxy
