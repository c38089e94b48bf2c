#include "proxy/client/purge_response.hpp"

#include "proxy/net/awaited_value.hpp"
#include "proxy/storage/purge.hpp"

namespace proxy {
namespace {

namespace asio = boost::asio;
using Clock = std::chrono::steady_clock;

/// For the control thread to answer, beyond the time it gives the peers.
constexpr std::chrono::seconds kControlSlack{2};

}  // namespace

asio::awaitable<bool> respond_to_purge(ClientContext& client) {
    client.transaction.outcome = Outcome::uncacheable;
    if (!client.requester.may_purge(client.config(), client.head.fields)) {
        ++client.frontend.counters.refusals[RequestRefusal::forbidden];
        client.transaction.outcome = Outcome::error;
        co_return co_await client.refuse(403,
                                         "PURGE is not for this address (purge.allow), nor "
                                         "through a proxy that is not in "
                                         "clients.trusted_proxies.");
    }
    PurgeOrder order;
    order.uris.emplace_back(client.key.uri());
    const auto reply = std::make_shared<AwaitedValue<PurgeReport>>(client.wakeup);
    client.frontend.shared.purge(std::move(order),
                                 [reply](PurgeReport report) { reply->give(std::move(report)); });
    const auto in_time = co_await reply->wait_until(Clock::now() + kPurgeDeadline + kControlSlack);
    if (!in_time) {
        client.transaction.outcome = Outcome::error;
        co_return co_await client.refuse(503, "This node is too busy to purge.");
    }

    const auto& report = reply->value();
    const auto body = purge_json(report);
    co_return co_await client.answer(status_of(report), "Content-Type: application/json\r\n", body);
}

}  // namespace proxy
