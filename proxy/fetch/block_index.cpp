#include "proxy/fetch/block_index.hpp"

#include <algorithm>

#include "proxy/fetch/block_plan.hpp"
#include "proxy/fetch/block_run.hpp"
#include "proxy/fetch/resume_plan.hpp"
#include "proxy/http/freshness.hpp"
#include "proxy/http/hop_by_hop.hpp"
#include "proxy/http/response_head.hpp"
#include "proxy/http/validators.hpp"

namespace proxy {

using boost::beast::http::field;
namespace {

/// The response covers several blocks from where one begins. `own`: see BlockRun::run().
boost::asio::awaitable<void> cut_into_blocks(Delivery& delivery, Exchange& exchange,
                                             ByteRange covered, Delivery* own) {
    auto& job = delivery.job();
    const auto storable = delivery.candidate(exchange.received()).verdict == StorageVerdict::store;
    BlockRun::Of of{body_around(*job.wanted.block), covered, storable};
    BlockRun run(delivery.cache(), job, std::move(of), exchange);
    co_await run.run(own);
}

}  // namespace

std::optional<BlockIndex> make_index(Delivery& delivery, const ReceivedHead& from,
                                     std::uint64_t length) {
    const auto& job = delivery.job();
    const auto& policy = job.wanted.request->policy();
    if (!job.wanted.may_use_blocks || length == 0 || length > policy.cache->object_max)
        return std::nullopt;
    auto head = from.head;
    if (!validators_of(head.fields).strong()) return std::nullopt;
    if (head.status == 206)
        std::erase_if(head.fields,
                      [](const Field& line) { return line.id == field::content_range; });
    head.status = 200;
    BlockIndex index;
    index.candidate = delivery.candidate({head, from.request_time, from.arrival, from.own_lines,
                                          from.from_peer, from.took, from.server, from.redirects});
    if (index.candidate.verdict != StorageVerdict::store) return std::nullopt;
    // The key of a block names the version alone, so a body that is for one client has none.
    if (index.candidate.response->freshness.personal) return std::nullopt;
    auto& response = *index.candidate.response;
    index.live = std::make_shared<LiveFields>();
    const StoredFields stored(head.fields, policy.rules(), index.candidate.withheld);
    render_response(head, job.wanted.request->config().node, stored, from.arrival.wall,
                    response.head_fields, *index.live);
    index.live->lines.append(from.own_lines);
    response.blocks = Blocks{length, policy.cache->block};
    if (!delivery.charge(response)) return std::nullopt;
    return index;
}

void publish(Delivery& delivery, BlockIndex index, Delivery::Sender sender) {
    delivery.give(std::move(index.candidate), std::move(index.live), false, std::move(sender));
}

boost::asio::awaitable<void> take_block(Delivery& delivery, Exchange& exchange) {
    auto& job = delivery.job();
    const auto& wanted = *job.wanted.block;
    const auto& head = exchange.head();
    const auto wrong = judge_block(wanted, head, identifies_user(job.wanted.request->fields));
    if (wrong == FetchError::none) {
        job.progress.flow.reset();  // the origin gives this block alone
        co_await delivery.deliver(exchange);
        co_return;
    }
    const auto covered = run_of(wanted, head, exchange.content_length());
    if (!covered) {
        delivery.cache().upstream.note_part(*job.wanted.request->origin(), *job.wanted.request,
                                            wrong, head);
        delivery.refuse(wrong, exchange);
        co_return;
    }
    co_await cut_into_blocks(delivery, exchange, *covered, &delivery);
}

boost::asio::awaitable<void> take_blocks_behind(Delivery& delivery) {
    const auto behind = delivery.take_behind();
    if (!behind) co_return;
    co_await cut_into_blocks(delivery, behind->origin->response(), behind->range, nullptr);
}

boost::asio::awaitable<void> run_in_blocks(Delivery& delivery, BlockIndex index, Exchange& exchange,
                                           ByteRange covered) {
    auto& cache = delivery.cache();
    const std::shared_ptr<const StoredResponse> whole = index.candidate.response;
    auto version = version_of(*whole, whole->blocks->length, cache.shared.key_hasher);
    BlockRun::Of of{blocks_of(*whole, std::move(version)), covered, true};
    BlockRun run(cache, delivery.job(), std::move(of), exchange);
    Delivery::Sender sender{
        Fill::From::origin, {}, exchange.head().status, exchange.server(), exchange.redirects()};
    publish(delivery, std::move(index), std::move(sender));
    co_await run.run(nullptr);
}

boost::asio::awaitable<void> begin_in_blocks(Delivery& delivery, Exchange& exchange) {
    auto& job = delivery.job();
    const auto& head = exchange.head();
    const auto& part = *job.wanted.part;
    const auto given = content_range(head.fields);
    std::optional<BlockIndex> index;
    if (given && given->range && given->length)
        index = make_index(delivery, exchange.received(), *given->length);
    // After a purge of one of its tags the body goes to its own client alone, in one piece.
    if (index && !index->candidate.response->tags.empty() &&
        !job.result.lease.tag(index->candidate.response->tags))
        index.reset();
    const auto meaning = first_block(part.range, part.of_a_version, given,
                                     index ? index->candidate.response->blocks : std::nullopt);
    if (meaning == FirstBlock::as_it_is) {
        co_await delivery.deliver(exchange);
        co_return;
    }
    if (meaning == FirstBlock::not_in_parts) {
        delivery.fail({FetchError::not_in_parts, head.status, true});
        co_return;
    }
    const auto covered = *given->range;
    co_await run_in_blocks(delivery, std::move(*index), exchange, covered);
}

}  // namespace proxy
