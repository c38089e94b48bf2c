#include "proxy/client/response_in_blocks.hpp"

#include <utility>

#include "proxy/client/block_stream.hpp"
#include "proxy/client/response_from_store.hpp"

namespace proxy {
namespace {

namespace asio = boost::asio;

/// Nothing was sent yet.
asio::awaitable<void> refuse_blocks(Transaction& transaction, FetchError error,
                                    CacheStatus status) {
    transaction.books.source = Source::none;
    transaction.books.outcome = Outcome::error;
    if (transaction.request.directives.only_if_cached) {
        co_await refuse_to_fetch(transaction);
        co_return;
    }
    status.detail = to_string(error);
    status.forward = Forward::partial;
    const auto& request = transaction.request;
    co_await transaction.refuse_fetch(error, request.key.authority(), request.site.asked_server(),
                                      status);
}

}  // namespace

asio::awaitable<Served> respond_in_blocks(Transaction& transaction,
                                          std::shared_ptr<const StoredResponse> index,
                                          CacheStatus status, const LiveFields* live,
                                          std::shared_ptr<const RequestSnapshot> led) {
    const auto& request = transaction.request;
    const auto age = current_age(index->freshness, index->residence(transaction.books.begun));
    if (not_modified(request, *index)) {
        co_await respond_not_modified(transaction, *index, live, age, status);
        co_return Served::responded;
    }
    // Only the parts that are asked for: the whole may be far more, and most of it missing.
    if (wants_several_parts(request, *index) && !request.directives.only_if_cached) {
        transaction.books.cache = CacheResult::miss;
        co_return Served::alone;
    }
    const auto length = index->blocks->length;
    const auto part = wanted_part(request, *index, length);
    if (part.kind == RangeAnswer::Kind::unsatisfiable) {
        co_await respond_unsatisfiable(transaction, length, status);
        co_return Served::responded;
    }
    const auto range = part.kind == RangeAnswer::Kind::part ? part.range : ByteRange{0, length - 1};
    const auto leads = led != nullptr;
    BlockStream stream(transaction, index, std::move(led));
    const auto stored_only = request.directives.only_if_cached;
    auto error = FetchError::not_allowed;
    if (!stored_only || stream.pin(range)) error = co_await stream.open(range, leads);
    if (transaction.books.aborted) co_return Served::responded;
    // The origin refuses a part to this client, and others may have it.
    if (!stored_only && error == FetchError::part_refused) co_return Served::alone;
    if (!stored_only && error == FetchError::changed) {
        // The next look begins with what the origin has now.
        transaction.frontend.cache.shared.drop(request.hash, std::chrono::steady_clock::now());
        co_return Served::look_again;
    }
    if (error != FetchError::none) {
        co_await refuse_blocks(transaction, error, status);
        co_return Served::responded;
    }
    stream.describe(status);
    transaction.note_type(*index);
    begin_response(transaction, *index, live, age, status, part, length);
    co_await stream.send();
    co_return Served::responded;
}

asio::awaitable<void> refuse_to_fetch(Transaction& transaction) {
    auto status = kOwnAnswer;
    status.detail = "only-if-cached";
    co_await transaction.refuse(504, "Not in this cache, and only-if-cached was asked for.",
                                status);
}

}  // namespace proxy
