#include "proxy/cache/block_index.hpp"

#include <algorithm>
#include <charconv>

#include "proxy/cache/resume_plan.hpp"
#include "proxy/http/response_head.hpp"
#include "proxy/http/validators.hpp"

namespace proxy {

using boost::beast::http::field;

std::optional<BlockIndex> make_index(Delivery& delivery, const FetchJob& job, const Received& from,
                                     std::uint64_t length) {
    const auto& config = *job.config;
    if (!job.may_use_blocks || length == 0 || length > config.cache.object_max) return std::nullopt;
    auto head = from.head;
    if (!validators_of(head.fields).strong()) return std::nullopt;
    head.status = 200;
    std::erase_if(head.fields, [](const Field& line) { return line.id == field::content_range; });
    BlockIndex index;
    index.draft =
        delivery.draft({head, from.request_time, from.arrival, from.own_lines, from.from_peer});
    if (index.draft.verdict != StorageVerdict::store) return std::nullopt;
    auto& response = *index.draft.response;
    index.live = std::make_shared<LiveFields>();
    render_response(head, config.node, config.cache.rules, from.arrival.wall, response.head,
                    *index.live);
    index.live->lines.append(from.own_lines);
    response.blocks = Blocks{length, config.cache.block};
    if (!delivery.charge(response)) return std::nullopt;
    return index;
}

bool is_given(const FetchJob::Block& wanted, const Head& head,
              const std::optional<std::uint64_t>& length) {
    return is_wanted(wanted, head) && length == wanted.range.size();
}

bool is_whole_of(const StoredMetadata& response, std::string_view etag) {
    return response.status == 200 && !response.blocks &&
           validators_of(response.fields()).etag == etag;
}

FirstBlock first_block(const RangeRequest& part, bool of_a_version,
                       const std::optional<ContentRange>& given,
                       const std::optional<Blocks>& index) {
    if (given && index && given->range == index->at(part.first)) return FirstBlock::index_and_block;
    return given && !of_a_version && is_wanted(part, *given) ? FirstBlock::as_it_is
                                                             : FirstBlock::not_in_parts;
}

FetchError judge_block(const FetchJob::Block& wanted, const Head& head) {
    return is_wanted(wanted, head) ? FetchError::none : why_not_that(head);
}

bool is_wanted(const FetchJob::Block& wanted, const Head& head) {
    const auto range = content_range(head.fields);
    return head.status == 206 && range && range->range == wanted.range &&
           range->length == wanted.length && validators_of(head.fields).etag == wanted.etag;
}

bool is_wanted(const RangeRequest& part, const ContentRange& given) {
    if (!given.range || given.range->first != part.first) return false;
    const auto to_the_end = given.length && given.range->last + 1 == *given.length;
    if (part.form == RangeRequest::Form::open) return to_the_end;
    return given.range->last == part.last || (to_the_end && part.last > given.range->last);
}

std::optional<std::uint64_t> length_of_head_alone(const Head& head) {
    if (head.status != 304) return std::nullopt;
    const auto text = head.get(field::content_length).value_or(std::string_view());
    std::uint64_t length = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), length);
    if (error != std::errc() || end != text.data() + text.size() || text.empty())
        return std::nullopt;
    return length;
}

void publish(Delivery& delivery, BlockIndex index, Delivery::Sender sender) {
    delivery.give(std::move(index.draft), std::move(index.live), false, std::move(sender));
}

boost::asio::awaitable<void> take_block(Delivery& delivery, const FetchJob::Block& wanted,
                                        Exchange& exchange) {
    const auto& head = exchange.head();
    const auto wrong = judge_block(wanted, head);
    if (wrong == FetchError::none)
        co_await delivery.pass(exchange);
    else
        delivery.fail(wrong, head.status);
}

boost::asio::awaitable<void> begin_in_blocks(Cache& cache, FetchJob& asked, Delivery& delivery,
                                             Exchange& exchange) {
    const auto& head = exchange.head();
    const auto& part = *asked.part;
    const auto given = content_range(head.fields);
    std::optional<BlockIndex> index;
    if (given && given->range && given->length)
        index = make_index(delivery, asked, exchange.received(), *given->length);
    const auto meaning = first_block(part, asked.part_of_a_version, given,
                                     index ? index->draft.response->blocks : std::nullopt);
    if (meaning == FirstBlock::as_it_is) {
        co_await delivery.pass(exchange);
        co_return;
    }
    if (meaning == FirstBlock::not_in_parts) {
        delivery.fail(FetchError::not_in_parts, head.status, true);
        co_return;
    }
    asked.beside =
        make_block_job(cache, asked.request, asked.config, asked.route,
                       *index->draft.response->blocks, validators_of(head.fields).etag, part.first);
    auto* const job = asked.beside.get();
    auto& claim = job->claim;
    const auto found = cache.look_up(claim.hash(), claim.uri(), {}, Store::Clock::now());
    const auto leads = !found.response && claim.take(found).leads;
    Delivery block(cache, *job);
    publish(delivery, std::move(*index), {Fill::Source::origin, {}, head.status});
    if (leads)
        co_await take_block(block, *job->block, exchange);
    else
        block.leave();  // it is there, or on its way
}

}  // namespace proxy
