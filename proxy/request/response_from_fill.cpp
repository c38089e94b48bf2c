#include "proxy/request/response_from_fill.hpp"

#include <boost/beast/http/verb.hpp>
#include <chrono>
#include <optional>
#include <utility>

#include "proxy/request/body_sender.hpp"
#include "proxy/request/response_from_store.hpp"
#include "proxy/request/response_in_parts.hpp"

namespace proxy {

namespace asio = boost::asio;
using Clock = std::chrono::steady_clock;

void note_source(RequestStats& stats, const FillResponse& from) {
    const auto& incoming = from.state.incoming;
    stats.details.note_server(incoming.server);
    stats.details.redirects = incoming.redirects;
    if (from.leads && incoming.from == Fill::From::peer) stats.peer = incoming.peer;
    if (!from.leads) stats.cache = CacheResult::hit;
}

CacheStatus describe(RequestStats& stats, const FillResponse& from, CacheStatus status,
                     std::string& detail) {
    const auto& incoming = from.state.incoming;
    const auto& response = *incoming.response;
    if (incoming.shared && from.fetched()) {
        status.stored = from.state.phase == Fill::Phase::complete && !response.blocks;
        status.ttl = time_to_live(response.freshness, response.residence(Clock::now()));
    }
    if (incoming.upstream_status != response.status)
        status.forward_status = incoming.upstream_status;
    if (incoming.from == Fill::From::peer) {
        detail = "PEER_" + incoming.peer;
        status.detail = detail;
    } else if (from.leads && incoming.verdict != StorageVerdict::store) {
        status.detail = to_string(incoming.verdict);
    }
    stats.details.validated = incoming.validated;
    stats.source = !from.fetched() && response.body->on_disk() ? Source::disk
                   : !from.fetched()                           ? Source::memory
                   : incoming.from == Fill::From::peer         ? Source::peer
                                                               : Source::origin;
    stats.outcome = outcome_of(stats.source);
    return status;
}

asio::awaitable<void> respond_from_fill(Transaction& transaction, const FillResponse& from,
                                        const CacheStatus& status) {
    const auto& incoming = from.state.incoming;
    const auto& response = *incoming.response;
    const auto* live = from.live();
    std::optional<std::chrono::seconds> age;
    if (!from.leads || incoming.validated || (live && live->has_age))
        age = current_age(response.freshness, response.residence(Clock::now()));
    // The fetch went out without the leader's conditions, so they are judged here.
    if ((incoming.shared || from.leads) && not_modified(transaction.request, response)) {
        co_await respond_not_modified(transaction, response, live, age, status);
        co_return;
    }
    transaction.note_type(response);
    const auto length = incoming.length_known ? std::optional(incoming.length) : std::nullopt;
    // What a 304 has confirmed is all there.
    auto parts = incoming.validated
                     ? wanted_parts(transaction.request, response, response.body_bytes())
                     : WantedParts{wanted_part(transaction.request, response, length)};
    if (!parts.several.empty()) {
        co_await respond_in_parts(transaction, response, std::move(parts.several),
                                  transaction.stats.source, age, live, status);
        co_return;
    }
    const auto& part = parts.one;
    if (part.kind == RangeAnswer::Kind::unsatisfiable) {
        co_await respond_unsatisfiable(transaction, incoming.length, status);
        co_return;
    }
    begin_response(transaction, response, live, age, status, part, length);
    // A response that a 304 has confirmed stands in the store, and maybe on the disk.
    auto& windows = transaction.service.cache.shared.windows;
    auto body = incoming.validated ? BodyReader(response, transaction.wakeup, windows)
                                   : BodyReader(from.reader);
    BodySender::What what;
    what.fetched = from.fetched();
    what.stored_in = transaction.stats.source;
    if (part.kind == RangeAnswer::Kind::part) {
        body.consume(part.range.first);
        what.bytes = part.range.size();
    }
    if (transaction.request.head.verb == boost::beast::http::verb::head) what.bytes = 0;
    BodySender sender(transaction, std::move(body), what);
    co_await sender.run();
}

}  // namespace proxy
