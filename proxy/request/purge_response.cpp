#include "proxy/request/purge_response.hpp"

#include "base/async/awaited_value.hpp"
#include "proxy/storage/node_events.hpp"

namespace proxy {
namespace {

namespace asio = boost::asio;
using Clock = std::chrono::steady_clock;

/// The control thread has so long beyond the time that it gives the peers.
constexpr std::chrono::seconds kControlSlack{2};

}  // namespace

asio::awaitable<void> respond_to_purge(Transaction& transaction) {
    auto& stats = transaction.stats;
    const auto& request = transaction.request;
    stats.outcome = Outcome::uncacheable;
    if (!request.requester.may_purge(request.config(), request.head.fields)) {
        transaction.note_refusal(RequestRefusal::forbidden);
        co_await transaction.refuse(403,
                                    "This address may not PURGE (purge.allow), or the request came "
                                    "through a proxy outside clients.trusted_proxies.");
        co_return;
    }
    const auto answer = std::make_shared<base::AwaitedValue<PurgeAnswer>>(transaction.wakeup);
    transaction.service.shared.events.push(PurgeRequested{std::string(request.key.uri()), answer});
    const auto deadline = Clock::now() + kPurgeDeadline + kControlSlack;
    const auto in_time = co_await answer->wait_until(deadline);
    if (!in_time) {
        stats.outcome = Outcome::error;
        co_await transaction.refuse(503, "This node is too busy to purge.");
        co_return;
    }
    co_await transaction.respond(answer->value().status, "Content-Type: application/json\r\n",
                                 answer->value().json);
}

}  // namespace proxy
