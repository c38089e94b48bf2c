#include "proxy/request/response_in_blocks.hpp"

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "proxy/request/block_stream.hpp"
#include "proxy/request/response_from_store.hpp"
#include "proxy/request/response_in_parts.hpp"

namespace proxy {
namespace {

namespace asio = boost::asio;

/// Nothing was sent yet.
asio::awaitable<void> refuse_blocks(Transaction& transaction, FetchError error,
                                    CacheStatus status) {
    transaction.stats.source = Source::none;
    transaction.stats.outcome = Outcome::error;
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

/// A request for several parts lets the node fetch at most so many missing blocks. One that lacks
/// more goes to the origin as it is, because its parts may be a small share of so many blocks.
constexpr std::uint64_t kMaxBlocksForParts = 16;

/// The end of an attempt to open a stream, if nothing is sent because of it.
asio::awaitable<std::optional<ServeResult>> judge_opening(Transaction& transaction,
                                                          FetchError error,
                                                          const CacheStatus& status) {
    if (transaction.stats.aborted) co_return ServeResult::responded;
    const auto stored_only = transaction.request.directives.only_if_cached;
    // The origin refuses a part to this client, and others may have it, or it fails. The client
    // gets its answer, with the status and Retry-After.
    if (!stored_only && (error == FetchError::part_refused || error == FetchError::origin_error))
        co_return ServeResult::alone;
    if (!stored_only && error == FetchError::changed) {
        // The next look begins with what the origin has now.
        transaction.service.cache.shared.store.invalidate(transaction.request.hash,
                                                          std::chrono::steady_clock::now());
        co_return ServeResult::look_again;
    }
    if (error == FetchError::none) co_return std::nullopt;
    co_await refuse_blocks(transaction, error, status);
    co_return ServeResult::responded;
}

/// Opens a stream of `range`. With only-if-cached all blocks have to be here.
asio::awaitable<FetchError> open_stream(BlockStream& stream, ByteRange range, bool leads,
                                        bool stored_only) {
    if (stored_only && !stream.pin(range)) co_return FetchError::not_allowed;
    const auto error = co_await stream.open(range, leads);
    co_return error;
}

/// Sends several parts one after the other. The first part that has to be fetched is asked for
/// before the response begins, as the origin may have another version by now.
asio::awaitable<ServeResult> respond_in_parts_of_blocks(
    Transaction& transaction, std::shared_ptr<const StoredResponse> index,
    std::vector<ByteRange> parts, CacheStatus status, const LiveFields* live,
    std::shared_ptr<const RequestSnapshot> led) {
    const auto stored_only = transaction.request.directives.only_if_cached;
    const auto leads = led != nullptr;
    auto early = std::make_unique<BlockStream>(transaction, index, led);
    if (!leads && !stored_only && early->lacks_more_than(kMaxBlocksForParts, parts)) {
        transaction.stats.cache = CacheResult::miss;
        co_return ServeResult::alone;
    }
    const auto opened_early = early->first_missing(parts).value_or(0);
    const auto error = co_await open_stream(*early, parts[opened_early], leads, stored_only);
    const auto ended = co_await judge_opening(transaction, error, status);
    if (ended) co_return *ended;
    early->describe(status);
    transaction.note_type(*index);
    PartsResponse answer(transaction, *index, std::move(parts), index->blocks->length);
    const auto age = current_age(index->freshness, index->residence(transaction.stats.begun));
    answer.begin(live, age, status);
    for (std::size_t i = 0; i < answer.parts().size(); ++i) {
        const auto begun = co_await answer.begin_part(i);
        if (!begun) co_return ServeResult::responded;
        auto stream = i == opened_early ? std::move(early)
                                        : std::make_unique<BlockStream>(transaction, index, led);
        if (i != opened_early) {
            const auto later = co_await open_stream(*stream, answer.parts()[i], leads, stored_only);
            if (later != FetchError::none && !transaction.stats.aborted)
                transaction.stats.cut_short();
        }
        if (!transaction.stats.aborted) co_await stream->send();
        if (transaction.stats.aborted) co_return ServeResult::responded;
    }
    co_await answer.end();
    co_return ServeResult::responded;
}

}  // namespace

asio::awaitable<ServeResult> respond_in_blocks(Transaction& transaction,
                                               std::shared_ptr<const StoredResponse> index,
                                               CacheStatus status, const LiveFields* live,
                                               std::shared_ptr<const RequestSnapshot> led) {
    const auto& request = transaction.request;
    const auto age = current_age(index->freshness, index->residence(transaction.stats.begun));
    if (not_modified(request, *index)) {
        co_await respond_not_modified(transaction, *index, live, age, status);
        co_return ServeResult::responded;
    }
    const auto length = index->blocks->length;
    auto parts = wanted_parts(request, *index, length);
    if (!parts.several.empty()) {
        const auto served = co_await respond_in_parts_of_blocks(
            transaction, std::move(index), std::move(parts.several), status, live, std::move(led));
        co_return served;
    }
    const auto& part = parts.one;
    // So many parts are for the origin to judge: the whole may be far more, and mostly missing.
    if (parts.names_several && part.kind == RangeAnswer::Kind::whole &&
        !request.directives.only_if_cached) {
        transaction.stats.cache = CacheResult::miss;
        co_return ServeResult::alone;
    }
    if (part.kind == RangeAnswer::Kind::unsatisfiable) {
        co_await respond_unsatisfiable(transaction, length, status);
        co_return ServeResult::responded;
    }
    const auto range = part.kind == RangeAnswer::Kind::part ? part.range : ByteRange{0, length - 1};
    const auto leads = led != nullptr;
    const auto stored_only = request.directives.only_if_cached;
    BlockStream stream(transaction, index, std::move(led));
    if (!leads && !stored_only && stream.lies_deep_in_far_block(range)) {
        transaction.stats.cache = CacheResult::miss;
        co_return ServeResult::alone;
    }
    const auto error = co_await open_stream(stream, range, leads, stored_only);
    const auto ended = co_await judge_opening(transaction, error, status);
    if (ended) co_return *ended;
    stream.describe(status);
    transaction.note_type(*index);
    begin_response(transaction, *index, live, age, status, part, length);
    co_await stream.send();
    co_return ServeResult::responded;
}

asio::awaitable<void> refuse_to_fetch(Transaction& transaction) {
    auto status = kOwnAnswer;
    status.detail = "only-if-cached";
    co_await transaction.refuse(504, "Not in this cache, and only-if-cached was asked for.",
                                status);
}

}  // namespace proxy
