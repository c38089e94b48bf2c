#include "measure/run/connection_pool.hpp"

#include <algorithm>
#include <stdexcept>

namespace measure {
namespace {

using base::awaitable;
using boost::asio::ip::tcp;
using namespace std::chrono_literals;
using PoolClock = std::chrono::steady_clock;

constexpr auto kWatch = 100ms;  // longest delay before a deadline is noticed
constexpr auto kConnectDeadline = 2s;
constexpr auto kAvoidDown = 250ms;

}  // namespace

ConnectionPool::ConnectionPool(boost::asio::io_context& context,
                               const std::vector<base::HostPort>& proxies)
    : context_(context), watch_(context) {
    for (const auto& address : proxies) {
        tcp::resolver resolver(context_);
        boost::system::error_code error;
        const auto found = resolver.resolve(address.host, std::to_string(address.port), error);
        if (error) throw std::invalid_argument(address.text() + ": " + error.message());
        proxies_.emplace_back().endpoint = found.begin()->endpoint();
    }
}

awaitable<Attempt> ConnectionPool::ask(std::size_t at, const std::string& request,
                                       const ExpectedAnswer& expected, bool repeatable,
                                       Time deadline) {
    Proxy& proxy = proxies_[at];
    Attempt attempt;
    for (;;) {
        ProxyConnection* connection = nullptr;
        const bool kept = repeatable && !proxy.idle.empty();
        if (kept) {
            connection = proxy.idle.back();
            proxy.idle.pop_back();
        } else {
            connection = &connections_.emplace_back(tcp::socket(context_));
            const Time connect_by = std::min(deadline, PoolClock::now() + kConnectDeadline);
            const bool connected = co_await connection->connect(proxy.endpoint, connect_by);
            if (!connected) {
                drop(connection);
                proxy.down_until = PoolClock::now() + kAvoidDown;
                attempt.failure = RequestFailure::connect;
                co_return attempt;
            }
        }
        attempt = co_await connection->exchange(request, expected, deadline);
        if (connection->reusable()) {
            proxy.idle.push_back(connection);
        } else {
            drop(connection);
        }
        const bool stale = kept && attempt.failure == RequestFailure::cut && !attempt.answer_began;
        if (!stale) co_return attempt;
    }
}

bool ConnectionPool::is_down(std::size_t proxy) const {
    return PoolClock::now() < proxies_[proxy].down_until;
}

void ConnectionPool::drop(ProxyConnection* connection) {
    connections_.remove_if([&](const ProxyConnection& c) { return &c == connection; });
}

awaitable<void> ConnectionPool::watch() {
    while (!stopped_) {
        watch_.expires_after(kWatch);
        co_await watch_.async_wait(base::as_result);
        const Time now = PoolClock::now();
        for (auto& connection : connections_) connection.expire(now);
    }
}

void ConnectionPool::stop() {
    stopped_ = true;
    watch_.cancel();
}

}  // namespace measure
