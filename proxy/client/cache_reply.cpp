// What a client is answered out of the store, or in place of what could not be fetched; the rest of
// CacheAnswer stands in cache_answer.cpp.
#include "proxy/client/answer.hpp"
#include "proxy/client/block_stream.hpp"
#include "proxy/client/cache_answer.hpp"
#include "proxy/http/fetch_error.hpp"
#include "proxy/http/request_policy.hpp"
#include "proxy/upstream/origin_trouble.hpp"

namespace proxy {
namespace {

namespace asio = boost::asio;
using boost::beast::http::verb;
using Clock = std::chrono::steady_clock;

}  // namespace

/// May this be given to this client in place of what could not be fetched?
bool CacheAnswer::stands_in(const Stored& stale, FetchError error) const {
    const auto trouble = trouble_of(error);
    return stale && trouble &&
           may_serve_stale(client_.directives, stale->freshness, stale->residence(Clock::now()),
                           *trouble, client_.config().cache.rules);
}

/// No answer from upstream: what is stored, though stale, if that is allowed (RFC 9111 §4.2.4),
/// else an error.
asio::awaitable<CacheAnswer::Followed> CacheAnswer::answer_failure(Fill::State state, Stored stale,
                                                                   CacheStatus status) {
    status.detail = to_string(state.error);
    status.forward_status = state.answer.upstream_status;
    const auto asked = went_forward(state.error);
    if (stands_in(stale, state.error)) {
        client_.transaction.cache = CacheResult::stale;
        if (!asked) status.forward = Forward::none;
        co_return co_await answer_whole(std::move(stale), status);
    }
    client_.transaction.source = Source::none;
    if (!asked) status.forward = Forward::nowhere;
    const auto error = state.error == FetchError::none ? FetchError::head_timeout : state.error;
    client_.note_refused(error);
    const auto text = explain(error, client_.key.host(), state.malformed);
    const auto keep = co_await client_.refuse(status_of(error), text, status);
    co_return ended(keep);
}

/// Out of the store.
asio::awaitable<CacheAnswer::Followed> CacheAnswer::answer_whole(Stored response,
                                                                 CacheStatus status) {
    if (response->blocks && client_.head.verb == verb::get) {
        client_.transaction.outcome = Outcome::local_hit;
        client_.transaction.source = Source::memory;
        co_return co_await answer_in_blocks(std::move(response), status, nullptr, false);
    }
    const auto keep = co_await send_stored(client_, *response, status, client_.hash);
    co_return ended(keep);
}

/// Out of the blocks of a body; those that are missing are fetched.
asio::awaitable<CacheAnswer::Followed> CacheAnswer::answer_in_blocks(Stored index,
                                                                     CacheStatus status,
                                                                     const LiveFields* live,
                                                                     bool leads) {
    const auto age = current_age(index->freshness, index->residence(client_.transaction.begun));
    if (not_modified(client_, *index)) {
        const auto keep = co_await send_not_modified(client_, *index, live, age, status);
        co_return ended(keep);
    }
    const auto length = index->blocks->length;
    const auto part = wanted_part(client_, *index, length);
    if (part.kind == RangeAnswer::Kind::unsatisfiable) {
        const auto keep = co_await send_unsatisfiable(client_, length, status);
        co_return ended(keep);
    }
    const auto range = part.kind == RangeAnswer::Kind::part ? part.range : ByteRange{0, length - 1};
    BlockStream stream(client_, index, client_.route(), leads ? request_ : nullptr);
    const auto stored_only = client_.directives.only_if_cached;
    auto error = FetchError::not_allowed;
    if (!stored_only || stream.hold(range)) error = co_await stream.open(range, leads);
    if (client_.transaction.aborted) co_return Followed::close;
    if (stored_only && error != FetchError::none) {
        client_.transaction.source = Source::none;
        client_.transaction.outcome = Outcome::error;
        const auto keep = co_await refuse_to_fetch();
        co_return ended(keep);
    }
    // Nothing was sent yet: the origin refuses a part to this client, and others may have it.
    if (error == FetchError::part_refused) co_return Followed::alone;
    if (error == FetchError::changed) {
        // Nothing was sent yet: begin again with what the origin has now.
        frontend_.cache.shared.drop(client_.hash, Clock::now());
        co_return Followed::again;
    }
    if (error != FetchError::none) {
        status.detail = to_string(error);
        status.forward = Forward::partial;
        client_.transaction.source = Source::none;
        client_.transaction.outcome = Outcome::error;
        const auto text = explain(error, client_.key.host());
        const auto keep = co_await client_.refuse(status_of(error), text, status);
        co_return ended(keep);
    }
    stream.describe(status);
    client_.transaction.status = part.kind == RangeAnswer::Kind::part ? 206 : index->status;
    client_.note_type(*index);
    if (part.kind == RangeAnswer::Kind::part)
        compose_part(client_, index->head, live, age, status, range, length);
    else
        client_.compose(index->head, live, age, status, Framing::length, length);
    const auto keep = co_await stream.send();
    co_return ended(keep);
}

}  // namespace proxy
