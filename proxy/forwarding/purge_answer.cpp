#include "proxy/forwarding/purge_answer.hpp"

#include <algorithm>

#include "proxy/address_range.hpp"
#include "proxy/http/http_date.hpp"
#include "proxy/purge.hpp"

namespace proxy {
namespace {

namespace asio = boost::asio;
using Clock = std::chrono::steady_clock;

/// For the control thread to answer, beyond the time it gives the peers.
constexpr std::chrono::seconds kControlSlack{2};

/// The report, whenever it comes; whoever asked may have gone by then.
struct Pending {
    std::shared_ptr<Wakeup> wakeup;
    PurgeReport report;
    std::atomic<bool> done{false};
};

bool allowed(const Config& config, std::string_view address) {
    return std::any_of(config.purge.allow.begin(), config.purge.allow.end(),
                       [&](const auto& range) { return in_address_range(address, range); });
}

}  // namespace

asio::awaitable<bool> answer_purge(ClientContext& client) {
    client.turn.outcome = Outcome::uncacheable;
    if (!allowed(client.config(), client.connection.peer_address())) {
        ++client.worker.counters.refusals[RequestRefusal::forbidden];
        client.turn.outcome = Outcome::error;
        const auto refused =
            co_await client.refuse(403, "PURGE is not for this address (purge.allow).");
        co_return (refused && client.keep_alive());
    }
    PurgeOrder order;
    order.uris.emplace_back(client.key.uri());
    const auto pending = std::make_shared<Pending>();
    pending->wakeup = client.wakeup;
    client.worker.shared.hooks.purge(std::move(order), [pending](PurgeReport report) {
        pending->report = std::move(report);
        pending->done.store(true, std::memory_order_release);
        pending->wakeup->notify();
    });
    const auto deadline = Clock::now() + kPurgeDeadline + kControlSlack;
    while (!pending->done.load(std::memory_order_acquire) && Clock::now() < deadline)
        co_await client.wakeup->wait_until(deadline);
    if (!pending->done.load(std::memory_order_acquire)) {
        client.turn.outcome = Outcome::error;
        const auto refused = co_await client.refuse(503, "This node is too busy to purge.");
        co_return (refused && client.keep_alive());
    }

    const auto& report = pending->report;
    const auto body = purge_json(report);
    client.turn.status = status_of(report);
    client.own_head.clear();
    append_status_line(client.own_head, client.turn.status);
    client.own_head.append("Content-Type: application/json\r\nDate: ");
    append_http_date(client.own_head, std::chrono::time_point_cast<std::chrono::seconds>(
                                          std::chrono::system_clock::now()));
    client.own_head.append("\r\nVia: 1.1 ").append(client.config().node).append("\r\n");
    CacheStatus status;
    status.forward = Forward::method;
    client.compose(client.own_head, nullptr, std::nullopt, status, Framing::length, body.size());
    client.buffers.emplace_back(body.data(), body.size());
    client.turn.body_bytes = body.size();
    const auto sent = co_await client.connection.send(client.buffers);
    client.turn.aborted = !sent;
    co_return (sent && client.keep_alive());
}

}  // namespace proxy
