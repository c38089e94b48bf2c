#include "proxy/client/response_from_fill.hpp"

#include <chrono>
#include <optional>

#include "proxy/client/body_sender.hpp"
#include "proxy/client/response_from_store.hpp"

namespace proxy {

namespace asio = boost::asio;
using Clock = std::chrono::steady_clock;

void note_source(Books& books, const FromFill& from) {
    const auto& answer = from.state.answer;
    books.note_server(answer.server);
    if (from.leads && answer.from == Fill::From::peer) books.peer = answer.peer;
    if (!from.leads) books.cache = CacheResult::hit;
}

CacheStatus describe(Books& books, const FromFill& from, CacheStatus status, std::string& detail) {
    const auto& answer = from.state.answer;
    const auto& response = *answer.response;
    if (answer.shared && from.fetched()) {
        status.stored = from.state.phase == Fill::Phase::complete && !response.blocks;
        status.ttl = time_to_live(response.freshness, response.residence(Clock::now()));
    }
    if (answer.upstream_status != response.status) status.forward_status = answer.upstream_status;
    if (answer.from == Fill::From::peer) {
        detail = "PEER_" + answer.peer;
        status.detail = detail;
    } else if (from.leads && answer.verdict != StorageVerdict::store) {
        status.detail = to_string(answer.verdict);
    }
    books.validated = answer.validated;
    books.source = !from.fetched() && response.body->on_disk() ? Source::disk
                   : !from.fetched()                           ? Source::memory
                   : answer.from == Fill::From::peer           ? Source::peer
                                                               : Source::origin;
    books.outcome = outcome_of(books.source);
    return status;
}

asio::awaitable<void> respond_from_fill(Transaction& transaction, const FromFill& from,
                                        const CacheStatus& status) {
    const auto& answer = from.state.answer;
    const auto& response = *answer.response;
    const auto* live = from.live();
    std::optional<std::chrono::seconds> age;
    if (!from.leads || answer.validated || (live && live->has_age))
        age = current_age(response.freshness, response.residence(Clock::now()));
    // The fetch went out without the leader's conditions, so they are judged here.
    if ((answer.shared || from.leads) && not_modified(transaction.request, response)) {
        co_await respond_not_modified(transaction, response, live, age, status);
        co_return;
    }
    transaction.note_type(response);
    const auto length = answer.length_known ? std::optional(answer.length) : std::nullopt;
    const auto part = wanted_part(transaction.request, response, length);
    if (part.kind == RangeAnswer::Kind::unsatisfiable) {
        co_await respond_unsatisfiable(transaction, answer.length, status);
        co_return;
    }
    begin_response(transaction, response, live, age, status, part, length);
    // A response that a 304 has confirmed stands in the store, and maybe on the disk.
    auto& windows = transaction.frontend.cache.shared.windows;
    auto body = answer.validated ? BodyReader(response, transaction.wakeup, windows)
                                 : BodyReader(from.reader);
    BodySender::What what;
    what.fetched = from.fetched();
    what.stored_in = transaction.books.source;
    if (part.kind == RangeAnswer::Kind::part) {
        body.consume(part.range.first);
        what.bytes = part.range.size();
    }
    BodySender sender(transaction, body, what);
    co_await sender.run();
}

}  // namespace proxy
