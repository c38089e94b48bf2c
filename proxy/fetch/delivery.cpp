#include "proxy/fetch/delivery.hpp"

#include <algorithm>

#include "proxy/fetch/block_plan.hpp"
#include "proxy/fetch/missing_blocks.hpp"
#include "proxy/fetch/open_flow.hpp"
#include "proxy/fetch/peer_response_pace.hpp"
#include "proxy/fetch/renewal.hpp"
#include "proxy/fetch/resume_plan.hpp"
#include "proxy/fetch/resume_request.hpp"
#include "proxy/http/hop_by_hop.hpp"
#include "proxy/http/response_head.hpp"
#include "proxy/http/tags.hpp"
#include "proxy/http/validators.hpp"
#include "proxy/http/vary.hpp"
#include "proxy/rewrite/tag_mark.hpp"
#include "proxy/upstream/failure_log.hpp"
#include "proxy/upstream/origin_permit.hpp"
#include "summary/directory/directory.hpp"

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

/// The origin overtook the peer, and its rate is known.
void note_slow(const Cache& cache, const FetchJob& job, const std::string& peer) {
    auto& slow = job.wanted.block->peers->slow;
    const auto& origin = job.wanted.request->origin()->key;
    if (!cache.upstream.origin_times.rate_of(origin).known()) return;
    if (std::ranges::find(slow, peer) == slow.end()) slow.push_back(peer);
}

}  // namespace

Delivery::Delivery(Cache& cache, FetchJob& job) : cache_(cache), job_(job), writer_(cache, job) {}

Delivery::~Delivery() {
    if (!ended_) fail({FetchError::stopping});
}

StoringRequest Delivery::storing() const {
    return {cache_.shared.key_hasher, *job_.wanted.request, job_.wanted.directives,
            std::chrono::seconds(
                cache_.shared.cooperation.clock_ahead.load(std::memory_order_relaxed))};
}

StoreCandidate Delivery::candidate(const ReceivedHead& from) const {
    return job_.wanted.block ? block_candidate(from) : proxy::candidate(storing(), from);
}

/// Its index was judged, but its own head may forbid storing, too. It goes with its target, and by
/// its own tags as well as by those of its index.
StoreCandidate Delivery::block_candidate(const ReceivedHead& from) const {
    auto block = std::make_shared<StoredResponse>();
    block->status = from.head.status;
    block->from_peer = from.from_peer;
    block->arrival = from.arrival.with_sleep();
    block->freshness = block_freshness();
    const auto& key = job_.wanted.request->key;
    const auto& hasher = cache_.shared.key_hasher;
    if (auto tags = tags_of(from.head.fields, key.origin(), hasher)) block->tags = std::move(*tags);
    block->tags.push_back(hasher(key.uri()));
    block->tags.insert(block->tags.end(), job_.wanted.block->tags.begin(),
                       job_.wanted.block->tags.end());
    std::ranges::sort(block->tags, precedes);
    const auto again = std::ranges::unique(block->tags);
    block->tags.erase(again.begin(), again.end());
    const auto verdict = verdict_of_part(from.head);
    const auto too_many = block->tags.size() > kMaxTags + 1 && verdict == StorageVerdict::store;
    const auto said = response_directives(from.head.fields, job_.wanted.request->policy().rules());
    return {std::move(block), too_many ? StorageVerdict::too_many_tags : verdict, said.withheld()};
}

/// The head of a block, or of the rest of a body, has a say in who gets it.
StorageVerdict Delivery::verdict_of_part(const Head& head) const {
    const auto& request = *job_.wanted.request;
    const auto rules = request.policy().rules();
    const auto said = response_directives(head.fields, rules);
    const auto vary = request.policy().ignores_vary() ? std::string() : vary_names(head.fields);
    const auto& block = job_.wanted.block;
    const auto by_client =
        block ? block->version.by_client : varies_by_client(job_.result.fill->coming()->vary_names);
    if (varies_by_client(vary) && !by_client) return StorageVerdict::vary_any;
    return part_verdict(request.fields, job_.wanted.directives, said, rules, vary);
}

/// The bytes before it may go to clients that may not get these.
bool Delivery::is_for_fewer(const Head& rest) const {
    return job_.result.fill->state().incoming.verdict == StorageVerdict::store &&
           verdict_of_part(rest) != StorageVerdict::store;
}

bool Delivery::charge(StoredResponse& response) {
    return proxy::charge(cache_.shared.store, response, job_.result.lease.uri(), Clock::now());
}

/// The head of a response as the fill's readers see it.
Fill::Incoming Delivery::incoming_of(StoreCandidate& made, Sender sender,
                                     std::shared_ptr<const LiveFields> live) {
    Fill::Incoming incoming;
    incoming.response = made.response;
    incoming.from = sender.from;
    incoming.peer = std::move(sender.peer);
    incoming.server = sender.server;
    incoming.redirects = sender.redirects;
    incoming.stands_in = sender.stands_in;
    incoming.upstream_status = sender.upstream_status;
    incoming.live = std::move(live);
    incoming.verdict = made.verdict;
    return incoming;
}

/// Shows the head to the readers.
void Delivery::begin(const ReceivedHead& from, StoreCandidate made, Sender sender,
                     const std::optional<std::uint64_t>& length) {
    const auto& request = *job_.wanted.request;
    auto live = std::make_shared<LiveFields>();
    const StoredFields stored(from.head.fields, request.policy().rules(), made.withheld);
    render_response(from.head, request.config().node, stored, from.arrival.wall,
                    made.response->head_fields, *live);
    live->lines.append(from.own_lines);
    if (job_.wanted.block)
        cache_.shared.store.expect_blocks();
    else
        made.verdict = fits(made.verdict, length, object_max(request.policy()));
    const auto sharing =
        admit(cache_.shared.store, job_.result.lease, made, use_of(sender), Clock::now());
    if (sharing == Sharing::stored) tell_peers(*made.response, sender, length);
    auto incoming = incoming_of(made, std::move(sender), std::move(live));
    incoming.length = length.value_or(0);
    incoming.length_known = length.has_value();
    writer_.body().begin(std::move(incoming), sharing, Clock::now());
}

/// The terms on which the body of `exchange` is received. `rest`: the request that can go out for
/// what is missing; null: there can be none.
FillWriter::Watch Delivery::watch_of(Exchange& exchange, Fill::From from, ResumeRequest* rest) {
    FillWriter::Watch watch;
    watch.silence_at_most = silence_at_most(from, config());
    if (rest && from == Fill::From::peer) {
        const auto& times = cache_.upstream.origin_times;
        const auto& key = job_.wanted.request->origin()->key;
        const auto& block = job_.wanted.block;
        StreamOfBodies stream;
        if (block) stream = {block->bytes_behind, {block->peers, &block->peers->bytes_given}};
        const auto wanted = block ? WantedBody::block : WantedBody::whole;
        watch.pace.emplace(
            watch.silence_at_most,
            [&times, &key, wanted] {
                return pace_of_origin(times.of(key), times.rate_of(key), wanted);
            },
            std::move(stream));
        watch.look_elsewhere = [this, rest, &exchange] {
            if (job_.from.follows_run) return leaves_run();
            rest->ask_beside(exchange);
            return false;
        };
    }
    return watch;
}

/// A peer that fetches for the cluster spares the origin even if it is slow. Where the origin is
/// known to be much faster, as when it limits each connection, the stream changes to another fetch
/// once.
bool Delivery::leaves_run() {
    auto& peers = *job_.wanted.block->peers;
    const auto& times = cache_.upstream.origin_times;
    if (!peers.left.empty() || !times.rate_of(job_.wanted.request->origin()->key).known())
        return false;
    peers.left = job_.result.fill->state().incoming.peer;
    return true;
}

asio::awaitable<PeerVerdict> Delivery::run(Exchange& exchange, const ReceivedHead& from,
                                           StoreCandidate made, Sender sender) {
    const auto length =
        exchange.done() ? std::optional<std::uint64_t>(0) : exchange.content_length();
    const auto sent_by = sender.from;
    const auto peer = sender.peer;
    begin(from, std::move(made), std::move(sender), length);

    const auto version = version_at_origin(from, sent_by);
    const auto can_resume = !version.etag.empty();
    std::optional<ResumeRequest> rest;
    if (can_resume) rest.emplace(cache_, job_, version);
    auto watch = watch_of(exchange, sent_by, rest ? &*rest : nullptr);
    const auto began = Clock::now();
    const auto came = co_await writer_.receive(exchange, watch);
    const auto& origin = job_.wanted.request->origin();
    const auto from_origin = origin && sent_by == Fill::From::origin;
    if (from_origin) note_rate(*origin);
    if (from_origin && came == FetchError::none)
        cache_.upstream.origin_times.fetched(origin->key, from.took + (Clock::now() - began));
    const auto left = rest && rest->took_over() && came == FetchError::abandoned;
    const auto& block = job_.wanted.block;
    if (left && block) note_slow(cache_, job_, peer);
    const auto end =
        end_of_body(left ? FetchError::body_timeout : came, job_.progress.given_up, can_resume);
    auto error = end.error;
    if (end.resume) {
        if (from_origin) log_failure(cache_.upstream.log, *origin, error, exchange.malformed());
        exchange.finish();  // its place first: there may be none for the rest beside it
        auto came_elsewhere = false;
        if (other_sender_ && !from_origin && !left) came_elsewhere = co_await other_sender_(peer);
        if (came_elsewhere)
            error = FetchError::none;
        else
            error = co_await resume(version, error, *rest);
    }
    rest.reset();
    if (error == FetchError::none && block)
        error = judge_size(job_.result.fill->received(), block->range.size());
    if (error == FetchError::none)
        exchange.finish();
    else if (from_origin && !end.resume)
        log_failure(cache_.upstream.log, *origin, error, exchange.malformed());
    settle(error, from.head.status);
    if (block && (left || (sent_by == Fill::From::peer && block->peers->left == peer)))
        co_return PeerVerdict::outrun;
    co_return end.faultless ? PeerVerdict::hit : PeerVerdict::failure;
}

/// The body has ended, or broken off.
void Delivery::settle(FetchError error, unsigned status) {
    if (error == FetchError::none) {
        count(finish());
        return;
    }
    count(verdict_of(error));
    fail({error, status});
}

asio::awaitable<bool> Delivery::run_slice(Exchange& exchange, const ReceivedHead& from,
                                          std::function<void(std::uint64_t)> on_bytes) {
    const auto& block = *job_.wanted.block;
    begin(from, candidate(from),
          {Fill::From::origin, {}, from.head.status, exchange.server(), exchange.redirects()},
          block.range.size());
    const auto& origin = *job_.wanted.request->origin();
    FillWriter::Watch watch;
    watch.silence_at_most = silence_at_most(Fill::From::origin, config());
    watch.slice = block.range.size();
    watch.came = std::move(on_bytes);
    const auto came = co_await writer_.receive_slice(exchange, watch);
    note_rate(origin);
    const auto end = end_of_body(came, job_.progress.given_up, true);
    auto error = end.error;
    if (end.resume) {
        log_failure(cache_.upstream.log, origin, error, exchange.malformed());
        exchange.finish();
        const OriginVersion version{block.version.etag, block.version.server};
        ResumeRequest rest(cache_, job_, version);
        error = co_await resume(version, error, rest);
    }
    if (error == FetchError::none)
        error = judge_size(job_.result.fill->received(), block.range.size());
    settle(error, from.head.status);
    co_return (came == FetchError::none || came == FetchError::abandoned);
}

asio::awaitable<void> Delivery::deliver(Exchange& exchange) {
    const auto from = exchange.received();
    auto made = candidate(from);
    Sender sender{
        Fill::From::origin, {}, from.head.status, exchange.server(), exchange.redirects()};
    co_await run(exchange, from, std::move(made), std::move(sender));
}

/// The strong tag by which the origin can give the rest of a peer's body, or of a block of its own;
/// empty: it cannot. Servers of one group may give one tag to different bytes, so only the server
/// of the first bytes will do.
OriginVersion Delivery::version_at_origin(const ReceivedHead& from, Fill::From sent_by) const {
    const auto& origin = job_.wanted.request->origin();
    if (!origin) return {};
    if (job_.wanted.block)
        return {job_.wanted.block->version.etag, job_.wanted.block->version.server};
    if (sent_by == Fill::From::origin) return {};
    const auto validators = validators_of(from.head.fields);
    const auto is_unknown = origin->group && !origin->group->parents && from.server == 0;
    if (is_unknown || !validators.strong()) return {};
    // The origin has other bytes than those that were rewritten.
    const auto* const mirror = job_.wanted.request->policy().mirror;
    if (mirror && has_mark(validators.etag, mirror->mark_text)) return {};
    return {std::string(validators.etag), from.server};
}

/// The sender of a body died, stalled or was left, so the rest comes from the origin. `version`: by
/// version_at_origin(); `first`: the first request for it.
asio::awaitable<FetchError> Delivery::resume(const OriginVersion& version, FetchError broke_off,
                                             ResumeRequest& first) {
    const auto from_origin = job_.result.fill->state().incoming.from == Fill::From::origin;
    auto error = broke_off;
    if (!from_origin) {  // after its own failure the origin gets a pause
        ask_on(first);
        error = co_await take_rest(first);
        if (error == FetchError::none || job_.progress.given_up) co_return error;
        job_.progress.flow.reset();
    }
    auto not_before = first.not_before();
    // An origin that ignores ranges sends all of another version each time: once more is enough.
    auto others = first.status() == 200 ? 1u : 0u;
    for (;;) {
        if (others > 1) co_return error;
        // Another of the servers behind the origin's name may have the version.
        const auto passing = error == FetchError::changed ? FetchError::origin_error : error;
        auto& tries = job_.from.tries;
        if (!tries) tries = std::make_shared<RetryBudget>();
        const auto time = tries->failed(passing, not_before, Clock::now());
        if (!time) {
            not_before_ = not_before;
            co_return error;
        }
        const auto wanted = co_await pause(*time);
        if (!wanted) co_return FetchError::abandoned;
        ResumeRequest again(cache_, job_, version);
        error = co_await take_rest(again);
        if (error == FetchError::none || job_.progress.given_up) co_return error;
        not_before = again.not_before();
        if (again.status() == 200) ++others;
    }
}

bool Delivery::is_same_again(const Exchange& exchange) const {
    const auto length = exchange.content_length();
    if (const auto& block = job_.wanted.block) return is_given(*block, exchange.head(), length);
    const auto begun = job_.result.fill->coming();
    const auto known = validators_of(begun->fields());
    const auto given = validators_of(exchange.head().fields);
    return exchange.head().status == 200 && length && known.strong() && given.etag == known.etag &&
           length == job_.result.fill->state().incoming.length;
}

asio::awaitable<FetchError> Delivery::take_rest_of(Exchange& exchange) {
    FillWriter::Watch watch;
    watch.silence_at_most = silence_at_most(Fill::From::peer, config());
    watch.leave_out = job_.result.fill->received();
    const auto came = co_await writer_.receive(exchange, watch);
    co_return came;
}

/// False when nobody wants it any more.
asio::awaitable<bool> Delivery::pause(std::chrono::nanoseconds time) {
    const auto until = Clock::now() + time;
    while (job_.result.fill->wanted() && Clock::now() < until)
        co_await job_.result.wakeup->wait_until(until);
    co_return job_.result.fill->wanted();
}

/// The node takes the place of one that fetched several blocks: the origin is asked once for the
/// rest of this one and the others, and readers of the others wait from now on.
void Delivery::ask_on(ResumeRequest& rest) {
    auto& block = job_.wanted.block;
    // The node that is gone may have been the one that had the others.
    if (block && job_.from.of_run && !block->up_to) block->up_to = end_of_missing(cache_, job_);
    // Another fetch may have asked for the others.
    const auto asks = open_flow_behind(cache_, job_) && rest.ask_on();
    if (!asks) job_.progress.flow.reset();
}

/// Takes the missing bytes of the body from the origin.
asio::awaitable<FetchError> Delivery::take_rest(ResumeRequest& rest) {
    const auto& origin = *job_.wanted.request->origin();
    const auto error = co_await rest.ask();
    if (error != FetchError::none) {
        if (const auto* head = rest.head())
            cache_.upstream.note_part(origin, *job_.wanted.request, error, *head);
        co_return error;
    }
    auto& exchange = rest.exchange();
    if (is_for_fewer(exchange.head())) co_return FetchError::part_refused;
    job_.result.fill->goes_on_at_origin();
    FillWriter::Watch watch;
    watch.silence_at_most = silence_at_most(Fill::From::origin, config());
    watch.leave_out = rest.comes_twice();
    const auto behind = rest.behind();
    if (rest.asks_on() && !behind) job_.progress.flow.reset();
    auto came = FetchError::none;
    if (rest.goes_on()) {
        watch.slice = rest.whole() - job_.result.fill->received();
        came = co_await writer_.receive_slice(exchange, watch);
    } else {
        came = co_await writer_.receive(exchange, watch);
    }
    note_rate(origin);
    if (came != FetchError::none) {
        log_failure(cache_.upstream.log, origin, came, exchange.malformed());
        co_return came;
    }
    const auto size = judge_size(job_.result.fill->received(), rest.whole());
    if (behind)
        behind_ = Behind{rest.release(), *behind};
    else if (size == FetchError::none && !rest.goes_on())
        exchange.finish();
    co_return size;
}

/// Measures the rate of the body that the origin has just sent, if it was long enough.
void Delivery::note_rate(const UpstreamTarget& origin) {
    const auto& took = writer_.took();
    if (took.at_the_senders_pace && BodyRate::is_sample(took.bytes, took.waited))
        cache_.upstream.origin_times.body_measured(origin.key, took.bytes, took.waited);
}

void Delivery::give(StoreCandidate made, std::shared_ptr<const LiveFields> live, bool validated,
                    Sender sender) {
    const auto sharing = share(job_.result.lease, made, use_of(sender));
    if (sharing == Sharing::stored) tell_peers(*made.response, sender, made.response->body_bytes());
    auto incoming = incoming_of(made, std::move(sender), std::move(live));
    incoming.length = made.response->body_bytes();
    incoming.length_known = true;
    incoming.validated = validated;
    writer_.body().begin(std::move(incoming), sharing, Clock::now());
    count(finish());
}

void Delivery::refuse(FetchError error, const Exchange& exchange) {
    if (const auto time = exchange.not_before()) not_before_ = time;
    fail({error, exchange.head().status});
}

void Delivery::fail(FetchFailure failure) {
    ended_ = true;
    if (not_before_) job_.result.fill->not_again_before(*not_before_);
    if (job_.progress.given_up) failure.error = FetchError::abandoned;
    writer_.body().fail(failure, Clock::now());
}

/// The use of the sender's response, if it may be stored.
CopyUse Delivery::use_of(const Sender& sender) {
    if (sender.from != Fill::From::peer) return CopyUse::stored;
    const RemoteHit hit{job_.result.lease.hash(), job_.from.stale != nullptr,
                        job_.result.fill->audience().readers > 1, cache_.shared.store.has_room()};
    return cache_.shared.cooperation.copies.use_of(config().cluster->copy, hit);
}

/// The origin has confirmed or sent a response that is being stored: tells the peers that announce
/// the content, too, if there are any.
void Delivery::tell_peers(const StoredResponse& response, const Sender& sender,
                          const std::optional<std::uint64_t>& length) {
    constexpr unsigned kConfirmed = 304;
    const auto is_news = sender.from == Fill::From::origin || sender.upstream_status == kConfirmed;
    const auto may_be_elsewhere =
        job_.from.stale || job_.from.others_have || !job_.from.may_ask_peers;
    if (!is_news || job_.wanted.block || !may_be_elsewhere) return;
    const auto& view = cache_.upstream.peers.view();
    if (!view || !view->directory) return;
    const auto peers = view->directory->candidates(job_.result.lease.key());
    if (peers.empty()) return;
    const auto now = Clock::now();
    const auto told = renewal_of(job_.result.lease.hash(), response, length, now);
    if (!told) return;
    ++cache_.upstream.counters.renewals_told;
    cache_.shared.events.push(LocalRenewal{*told, now, peers});
}

void Delivery::count(StorageVerdict verdict) {
    ++cache_.upstream.counters.verdicts[verdict];
    if (verdict != StorageVerdict::store)
        cache_.shared.recent_verdicts.note(job_.result.lease.hash(), verdict, Clock::now());
}

/// Ends the complete body. Returns its final verdict.
StorageVerdict Delivery::finish() {
    ended_ = true;
    return writer_.body().finish(Clock::now());
}

}  // namespace proxy
