#include "proxy/cache/delivery.hpp"

#include <algorithm>

#include "proxy/cache/resume_plan.hpp"
#include "proxy/http/response_head.hpp"
#include "proxy/http/tags.hpp"
#include "proxy/http/validators.hpp"
#include "proxy/upstream/failure_log.hpp"
#include "proxy/upstream/origin_question.hpp"

namespace proxy {
namespace {

namespace asio = boost::asio;
using Clock = std::chrono::steady_clock;

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
    const auto length =
        exchange.done() ? std::optional<std::uint64_t>(0) : exchange.content_length();
    auto live = std::make_shared<LiveFields>();
    render_response(from.head, config_.node, config_.cache.rules, from.arrival.wall,
                    made.response->head, *live);
    live->lines.append(from.own_lines);
    const auto& block = job_.block;
    auto& store = cache_.shared.store;
    if (block)
        store.will_hold_blocks();
    else
        made.verdict = fits(made.verdict, length, object_max(config_));
    const auto use = use_of(sender);
    const auto sharing = admit(store, job_.claim, made, use == CopyUse::stored, Clock::now());

    Fill::Answer answer;
    answer.response = made.response;
    answer.source = sender.source;
    answer.peer = std::move(sender.peer);
    answer.length = length.value_or(0);
    answer.length_known = length.has_value();
    answer.upstream_status = sender.upstream_status;
    answer.live = std::move(live);
    answer.verdict = made.verdict;
    writer_.body().begin(std::move(answer), sharing, Clock::now());
    if (use == CopyUse::passed_on_once) job_.claim.abandon(false, Clock::now());

    const auto version = version_at_origin(from.head, sender.source);
    const auto can_resume = !version.empty();
    const auto expected = pace_expected(sender.source, can_resume, config_);
    const auto came = co_await writer_.receive(exchange, expected);
    const auto end = end_of_body(came, job_.given_up, can_resume);
    auto error = end.error;
    const auto* origin = std::get_if<UpstreamTarget>(&job_.route);
    const auto from_origin = origin && sender.source == Fill::Source::origin;
    if (end.resume) {
        if (from_origin) log_failure(cache_.upstream.log, *origin, error, exchange.malformed());
        exchange.finish();  // its place first: there may be none for the rest beside it
        error = co_await resume(version, error);
    }
    if (error == FetchError::none && block)
        error = judge_size(job_.fill->received(), block->range.size());
    auto& verdicts = cache_.upstream.counters.verdicts;
    if (error != FetchError::none) {
        ++verdicts[verdict_of(error)];
        if (from_origin && !end.resume)
            log_failure(cache_.upstream.log, *origin, error, exchange.malformed());
        fail(error, from.head.status);
        co_return end.faultless;
    }
    exchange.finish();
    ++verdicts[finish()];
    co_return end.faultless;
}

asio::awaitable<void> Delivery::pass(Exchange& exchange) {
    const auto from = exchange.received();
    auto made = draft(from);
    Sender sender{Fill::Source::origin, {}, from.head.status};
    co_await run(exchange, from, std::move(made), std::move(sender));
}

/// The strong tag by which the origin can give the rest of what a peer sends, or of a block that it
/// sends itself; empty: it cannot.
std::string Delivery::version_at_origin(const Head& head, Fill::Source source) const {
    if (!std::holds_alternative<UpstreamTarget>(job_.route)) return {};
    if (job_.block) return job_.block->etag;
    if (source == Fill::Source::origin) return {};
    const auto validators = validators_of(head.fields);
    return validators.strong() ? std::string(validators.etag) : std::string();
}

/// Who sent a body died or stalled inside it: the rest comes from the origin. `etag`: of
/// version_at_origin().
asio::awaitable<FetchError> Delivery::resume(std::string_view etag, FetchError broke_off) {
    const auto begun = Clock::now();
    // After its own failure the origin gets a pause, too.
    auto tries = job_.fill->state().answer.source == Fill::Source::origin ? 1u : 0u;
    auto error = broke_off;
    for (;;) {
        if (tries > 0) {
            const auto time = pause_before_retry(error, tries, Clock::now() - begun);
            if (!time) co_return error;
            const auto wanted = co_await pause(*time);
            if (!wanted) co_return FetchError::abandoned;
        }
        error = co_await ask_for_rest(etag);
        if (error == FetchError::none || job_.given_up) co_return error;
        ++tries;
    }
}

/// False when nobody wants it any more.
asio::awaitable<bool> Delivery::pause(std::chrono::nanoseconds time) {
    const auto until = Clock::now() + time;
    while (job_.fill->wanted() && Clock::now() < until) co_await job_.wakeup->wait_until(until);
    co_return job_.fill->wanted();
}

/// What has not come yet of the body, of the origin.
asio::awaitable<FetchError> Delivery::ask_for_rest(std::string_view etag) {
    const auto& origin = std::get<UpstreamTarget>(job_.route);
    const auto answer = job_.fill->state().answer;
    const auto& block = job_.block;
    const auto rest =
        rest_of(etag, job_.fill->received(), block ? std::optional(block->range) : std::nullopt,
                block                 ? std::optional(block->length)
                : answer.length_known ? std::optional(answer.length)
                                      : std::nullopt);
    // All of it came, but its sender did not end it: there is nothing left to ask for.
    if (rest.last && rest.first > *rest.last) co_return FetchError::changed;
    std::string lines;
    append_range_request(lines, rest.first, rest.last, etag);
    Exchange exchange(cache_.upstream.pool, cache_.upstream.head_limits());
    OriginQuestion asked(cache_.upstream, origin);
    const auto error = co_await ask_origin(*job_.request, config_, lines, exchange, asked);
    if (error != FetchError::none) co_return error;
    const auto whole = goes_on_with(rest, exchange.head());
    if (!whole) co_return why_not_that(exchange.head());
    job_.fill->goes_on_at_origin();
    const auto expected = pace_expected(Fill::Source::origin, false, config_);
    const auto came = co_await writer_.receive(exchange, expected);
    if (came != FetchError::none) {
        log_failure(cache_.upstream.log, origin, came, exchange.malformed());
        co_return came;
    }
    const auto size = judge_size(job_.fill->received(), *whole);
    if (size == FetchError::none) exchange.finish();
    co_return size;
}

void Delivery::give(Draft made, std::shared_ptr<const LiveFields> live, bool validated,
                    Sender sender) {
    const auto sharing = sharing_of(made.verdict, use_of(sender) == CopyUse::stored);
    Fill::Answer answer;
    answer.length = made.response->body_bytes();
    answer.length_known = true;
    answer.response = std::move(made.response);
    answer.validated = validated;
    answer.source = sender.source;
    answer.peer = std::move(sender.peer);
    answer.upstream_status = sender.upstream_status;
    answer.live = std::move(live);
    answer.verdict = made.verdict;
    writer_.body().begin(std::move(answer), sharing, Clock::now());
    ++cache_.upstream.counters.verdicts[finish()];
}

void Delivery::fail(FetchError error, unsigned upstream_status, bool unshareable,
                    ParseError malformed) {
    ended_ = true;
    writer_.body().fail(job_.given_up ? FetchError::abandoned : error, upstream_status, unshareable,
                        malformed, Clock::now());
}

/// What becomes of what it gives, if that may be stored.
CopyUse Delivery::use_of(const Sender& sender) {
    if (sender.source != Fill::Source::peer) return CopyUse::stored;
    const RemoteHit hit{job_.claim.hash(), job_.stale != nullptr,
                        job_.fill->audience().readers > 1};
    return cache_.shared.use_of_copy(config_.cluster->copy, hit);
}

/// The body is complete. What became of it.
StorageVerdict Delivery::finish() {
    ended_ = true;
    return writer_.body().finish(Clock::now());
}

}  // namespace proxy
