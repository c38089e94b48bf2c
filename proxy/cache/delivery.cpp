#include "proxy/cache/delivery.hpp"

#include "proxy/cache/resume_plan.hpp"

#include "proxy/upstream/failure_log.hpp"

#include <algorithm>

#include "proxy/http/response_head.hpp"
#include "proxy/http/tags.hpp"
#include "proxy/http/validators.hpp"
#include "proxy/upstream/origin_question.hpp"

namespace proxy {
namespace {

namespace asio = boost::asio;
using Clock = std::chrono::steady_clock;

/// A peer that gives less, in bytes/s over cluster.peer_stall, has stalled, where the rest can come
/// from the origin.
constexpr std::uint64_t kPeerRateMin = 500;

/// A block needs no freshness of its own: its key names the version.
Freshness block_freshness() {
    Freshness freshness;
    freshness.lifetime = saturate(kMaxDelta);
    freshness.source = LifetimeSource::max_age;
    freshness.has_validator = true;
    return freshness;
}

}  // namespace

Delivery::Delivery(Cache& cache, FetchJob& job)
    : cache_(cache),
      config_(*job.config),
      job_(job),
      writer_(cache, config_, job.claim, *job.fill, *job.wakeup) {}

Delivery::~Delivery() {
    if (!ended_) fail(FetchError::stopping);
}

StoringRequest Delivery::storing() const {
    return {cache_.shared.key_hasher, config_, job_.request->key, job_.request->fields,
            job_.directives};
}

Draft Delivery::draft(const Received& from) const {
    return job_.block ? block_draft(from) : proxy::draft(storing(), from);
}

/// Its index was judged. It goes with its target as well as by its tags.
Draft Delivery::block_draft(const Received& from) const {
    auto block = std::make_shared<StoredResponse>();
    block->status = from.head.status;
    block->arrival = from.arrival;
    block->freshness = block_freshness();
    const auto& key = job_.request->key;
    const auto& hasher = cache_.shared.key_hasher;
    if (auto tags = tags_of(from.head.fields, key.origin(), hasher)) block->tags = std::move(*tags);
    block->tags.push_back(hasher(key.uri()));
    std::sort(block->tags.begin(), block->tags.end(), precedes);
    return {std::move(block), StorageVerdict::store};
}

bool Delivery::charge(StoredResponse& response) {
    return proxy::charge(cache_.shared.store, response, job_.claim.uri(), Clock::now());
}

asio::awaitable<bool> Delivery::run(Exchange& exchange, const Received& from, Draft made,
                                    Sender sender) {
    auto& response = *made.response;
    auto& verdict = made.verdict;
    const auto length =
        exchange.done() ? std::optional<std::uint64_t>(0) : exchange.content_length();
    auto live = std::make_shared<LiveFields>();
    render_response(from.head, config_.node, config_.cache.rules, from.arrival.wall, response.head,
                    *live);
    live->lines.append(from.own_lines);
    if (job_.block) cache_.shared.store.will_hold_blocks();
    const auto from_peer = sender.source == Fill::Source::peer;
    const auto copy = stores(sender);
    if (!job_.block) verdict = fits(verdict, length, object_max(config_));
    if (sharing_of(verdict, copy) == Sharing::stored) {
        if (!charge(response))
            verdict = StorageVerdict::no_room;
        else if (!response.tags.empty() && !job_.claim.tag(response.tags))
            verdict = StorageVerdict::invalidated;
    }
    const auto sharing = sharing_of(verdict, copy);

    Fill::Answer answer;
    answer.response = made.response;
    answer.shared = sharing == Sharing::stored;
    answer.source = sender.source;
    answer.peer = std::move(sender.peer);
    answer.length = length.value_or(0);
    answer.length_known = length.has_value();
    answer.upstream_status = sender.upstream_status;
    answer.live = std::move(live);
    answer.verdict = verdict;
    std::string etag;  // of the version, by which the origin can go on where a peer stops
    if (from_peer) {
        const auto validators = validators_of(from.head.fields);
        if (validators.strong()) etag = validators.etag;
    }
    writer_.body().begin(std::move(answer));
    // Followers that were let go must not come back one after the other.
    if (sharing == Sharing::passed_on) abandon(true);

    const auto version = job_.block ? std::string_view(job_.block->etag) : std::string_view(etag);
    const auto least_rate = from_peer && !version.empty() ? kPeerRateMin : 0;
    auto error = co_await writer_.receive(exchange, sender.source, least_rate);
    if (job_.given_up) error = FetchError::abandoned;
    const auto faultless = error == FetchError::none || error == FetchError::abandoned;
    if (!faultless && from_peer) error = co_await resume(version);
    if (error == FetchError::none && job_.block &&
        job_.fill->received() != job_.block->range.size())
        error = FetchError::malformed;
    auto& verdicts = cache_.upstream.counters.verdicts;
    if (error != FetchError::none) {
        ++verdicts[verdict_of(error)];
        if (const auto* origin = std::get_if<UpstreamTarget>(&job_.route); origin && !from_peer)
            log_failure(cache_.upstream.log, *origin, error, exchange.malformed());
        fail(error, from.head.status);
        co_return faultless;
    }
    exchange.finish();
    ++verdicts[finish()];
    co_return faultless;
}

asio::awaitable<void> Delivery::pass(Exchange& exchange) {
    const auto from = received(exchange);
    auto made = draft(from);
    Sender sender{Fill::Source::origin, {}, from.head.status};
    co_await run(exchange, from, std::move(made), std::move(sender));
}

/// A peer died or stalled inside a body: the rest comes from the origin. `etag`: strong, or empty.
asio::awaitable<FetchError> Delivery::resume(std::string_view etag) {
    const auto* origin = std::get_if<UpstreamTarget>(&job_.route);
    if (etag.empty() || origin == nullptr) co_return FetchError::reset;
    const auto answer = job_.fill->state().answer;
    const auto& block = job_.block;
    const auto rest =
        rest_of(etag, job_.fill->received(), block ? std::optional(block->range) : std::nullopt,
                block                 ? std::optional(block->length)
                : answer.length_known ? std::optional(answer.length)
                                      : std::nullopt);
    std::string lines;
    append_range_request(lines, rest.first, rest.last, etag);
    Exchange exchange(cache_.upstream.pool, cache_.upstream.head_limits());
    OriginQuestion asked(cache_.upstream, *origin);
    const auto error = co_await ask_origin(*job_.request, config_, lines, exchange, asked);
    if (error != FetchError::none) co_return error;
    const auto whole = goes_on_with(rest, exchange.head());
    if (!whole) co_return FetchError::reset;
    job_.fill->goes_on_at_origin();
    const auto result = co_await writer_.receive(exchange, Fill::Source::origin);
    if (result != FetchError::none) co_return result;
    if (job_.fill->received() != *whole) co_return FetchError::malformed;
    exchange.finish();
    co_return FetchError::none;
}

void Delivery::give(Draft made, std::shared_ptr<const LiveFields> live, bool validated,
                    Sender sender) {
    const auto sharing = sharing_of(made.verdict, stores(sender));
    Fill::Answer answer;
    answer.length = made.response->body_bytes();
    answer.length_known = true;
    answer.response = std::move(made.response);
    answer.shared = sharing == Sharing::stored;
    answer.validated = validated;
    answer.source = sender.source;
    answer.peer = std::move(sender.peer);
    answer.upstream_status = sender.upstream_status;
    answer.live = std::move(live);
    answer.verdict = made.verdict;
    writer_.body().begin(std::move(answer));
    if (sharing == Sharing::passed_on) abandon(true);
    ++cache_.upstream.counters.verdicts[finish()];
}

void Delivery::fail(FetchError error, unsigned upstream_status, bool unshareable,
                    ParseError malformed) {
    ended_ = true;
    // In this order: nobody new joins a fill that has failed.
    abandon(unshareable);
    job_.fill->fail(job_.given_up ? FetchError::abandoned : error, upstream_status, malformed);
}

/// Is what it gives stored, if it may be?
bool Delivery::stores(const Sender& sender) {
    return sender.source != Fill::Source::peer ||
           cache_.shared.stores_copy(config_.cluster->copy, job_.claim.hash(),
                                     job_.stale != nullptr);
}

/// The body is complete. What became of it.
StorageVerdict Delivery::finish() {
    ended_ = true;
    return writer_.body().finish(Clock::now());
}

/// `unshareable`: whoever asks next does not wait for another's answer.
void Delivery::abandon(bool unshareable) {
    job_.claim.abandon(unshareable, Clock::now());
}

}  // namespace proxy
