#include "proxy/request/response_from_cache.hpp"

#include <algorithm>
#include <utility>

#include "proxy/config/config_disk.hpp"
#include "proxy/fetch/fetch.hpp"
#include "proxy/fetch/fetch_job.hpp"
#include "proxy/fetch/origin_plan.hpp"
#include "proxy/http/credentials.hpp"
#include "proxy/http/fetch_error.hpp"
#include "proxy/http/field_list.hpp"
#include "proxy/http/request_policy.hpp"
#include "proxy/request/response_from_store.hpp"
#include "proxy/upstream/origin_trouble.hpp"
#include "summary/directory/directory.hpp"

namespace proxy {

namespace asio = boost::asio;
using boost::beast::http::field;
using boost::beast::http::verb;
using Clock = std::chrono::steady_clock;

namespace {

/// After two vain waits a request fetches for itself: one wait reveals `Vary`, one more is spare.
constexpr int kMaxVainWaits = 2;

/// How often a reader of a part looks whether the body will reach it soon.
constexpr std::chrono::milliseconds kLookAhead{20};

}  // namespace

bool ResponseFromCache::respond_at_once() {
    look_up(stats_.begun);
    looked_up_ = true;
    const auto& response = found_.response;
    const auto is_usual = response && !transaction_.judges_age() && !found_.on_disk &&
                          !found_.other_variants && response->vary_names.empty() &&
                          !is_unsure(*response) && goes_out_at_once(transaction_, *response);
    if (!is_usual) return false;
    StoreFacts facts{&response->freshness, response->residence(stats_.begun)};
    facts.has_fill = found_.fill != nullptr;
    facts.unshareable = found_.unshareable;
    const auto plan = plan_reuse(facts, request_.directives);
    if (plan.step != ResponseStep::serve) return false;
    serve_stored(plan, facts.residence);
    rest_ = proxy::respond_at_once(transaction_, *response, lookup_.source_of(*response), status_,
                                   request_.hash);
    return !rest_;
}

asio::awaitable<void> ResponseFromCache::respond_with_rest() {
    co_await rest_->run();
}

bool ResponseFromCache::may_look_up() {
    const auto changes = looks_ - vain_waits_;
    if (changes >= kMaxLooks) return false;
    may_use_blocks_ = changes < 2;
    ++looks_;
    return true;
}

void ResponseFromCache::look_up() {
    if (!std::exchange(looked_up_, false)) look_up(Clock::now());
}

void ResponseFromCache::look_up(Clock::time_point now) {
    found_ = lookup_.find(request_.hash, request_.key.uri(), request_.head.fields, now);
}

asio::awaitable<void> ResponseFromCache::recall() {
    found_ = co_await lookup_.recall(std::move(found_), request_.hash, request_.key.uri(),
                                     request_.head.fields);
}

void ResponseFromCache::select_variant() {
    const auto varies =
        found_.other_variants || (found_.response && !found_.response->vary_names.empty());
    if (!varies || request_.forwarded_is_rewritten()) return;
    request_.rewrite_forwarded();
    look_up();
}

StoreFacts ResponseFromCache::store_facts() const {
    StoreFacts facts{
        nullptr, {}, found_.fill != nullptr, found_.other_variants, found_.unshareable};
    if (found_.response) {
        facts.stored = &found_.response->freshness;
        facts.residence = found_.response->residence(stats_.begun);
        facts.unsure = is_unsure(*found_.response);
    }
    return facts;
}

/// Peers may have purged it while this node was away.
bool ResponseFromCache::is_unsure(const StoredMetadata& stored) const {
    return service_.cache.shared.cooperation.awaited_orders.may_concern(stored.arrival.steady,
                                                                        stats_.begun);
}

ResponsePlan ResponseFromCache::plan() {
    auto facts = store_facts();
    auto plan = plan_reuse(facts, request_.directives);
    if (found_.response && plan.reuse != Reuse::fresh && lookup_.renew(*found_.response)) {
        look_up();
        facts = store_facts();
        plan = plan_reuse(facts, request_.directives);
    }
    status_ = {};
    if (plan.serves()) {
        serve_stored(plan, facts.residence);
        return plan;
    }
    plan = plan_fetch(plan, facts, request_facts());
    status_.forward = forward_ = plan.forward;
    stats_.details.client_reload = plan.reuse == Reuse::request;
    stats_.cache = found_.response ? CacheResult::reval : CacheResult::miss;
    request_.rewrite_forwarded();
    return plan;
}

void ResponseFromCache::serve_stored(const ResponsePlan& plan, std::chrono::seconds residence) {
    const auto& response = *found_.response;
    stats_.cache = plan.reuse == Reuse::fresh ? CacheResult::hit : CacheResult::stale;
    status_.ttl = time_to_live(response.freshness, residence);
    // The places of blocks are stated once they were looked at.
    if (service_.cache.shared.store.disk() && !response.blocks)
        status_.detail = lookup_.source_of(response) == Source::disk ? "disk" : "memory";
    // Missing blocks, and stale responses, are fetched for this client.
    const auto renews = plan.step == ResponseStep::serve_and_renew;
    if (renews || response.blocks) request_.rewrite_forwarded();
    if (!renews) return;
    status_.detail = "stale-while-revalidate";
    transaction_.note_stand_in(true);
    renew();
}

bool ResponseFromCache::is_in_blocks() const {
    return found_.response->blocks && request_.head.verb == verb::get;
}

asio::awaitable<ServeResult> ResponseFromCache::respond_in_blocks(const CacheStatus& status) {
    stats_.outcome = Outcome::local_hit;
    stats_.source = Source::memory;
    forward_ = Forward::partial;  // unless the blocks are the answer
    return proxy::respond_in_blocks(transaction_, found_.response, status, nullptr, nullptr);
}

asio::awaitable<void> ResponseFromCache::respond_whole(const CacheStatus& status) {
    const auto& response = *found_.response;
    return respond_from_store(transaction_, response, lookup_.source_of(response), status,
                              request_.hash);
}

asio::awaitable<ServeResult> ResponseFromCache::fetch_or_follow(ResponsePlan plan) {
    if (plan.step == ResponseStep::refuse) {
        co_await refuse_to_fetch(transaction_);
        co_return ServeResult::responded;
    }
    if (plan.step == ResponseStep::relay) {
        if (plan.may_fill_behind) fill_behind();
        co_return ServeResult::alone;
    }
    if (const auto none = request_.site.none) {
        co_await transaction_.refuse_without_site(*none);
        co_return ServeResult::responded;
    }
    auto job = make_job();
    job->from.may_ask_peers = plan.may_ask_peers;
    if (plan.in_part)
        job->wanted.part = WantedPart{range_request(request_.head.fields), plan.of_version};
    // What is stored needs the same consent of the origin, and no other fetch.
    const auto asks_each =
        request_.site.policy.authorizes_each() && !found_.response && !found_.unshareable;
    if ((!plan.collapse && !asks_each) || vain_waits_ >= kMaxVainWaits) {
        job->result.lease.stay_alone(found_.invalidations);
    } else if (auto taken = job->result.lease.take(found_); !taken.leads) {
        if (!taken.other) co_return ServeResult::look_again;
        status_.collapsed = true;
        if (vain_waits_ == 0) ++service_.counters.collapsed;
        auto other = std::move(taken.other);
        if (request_.trace().spans) stats_.leader = other->leader();
        auto served = ServeResult::alone;
        if (asks_each)
            served = co_await follow_confirmed(std::move(other));
        else
            served = co_await follow(std::move(other));
        if (served != ServeResult::alone) co_return served;
        status_.collapsed = false;
    }
    co_return co_await lead(std::move(job));
}

RequestFacts ResponseFromCache::request_facts() const {
    const auto& fields = request_.head.fields;
    RequestFacts facts{request_.directives, range_request(fields)};
    facts.is_head = request_.head.verb == verb::head;
    facts.if_range = find(fields, field::if_range) != nullptr;
    facts.conditions_for_origin =
        find(fields, field::if_match) || find(fields, field::if_unmodified_since);
    const auto& policy = request_.site.policy;
    facts.fetches_for_head = policy.fetches_for_head();
    facts.authorization = policy.authorizes_each() ||
                          (!policy.shares_authorized() &&
                           has_credential(fields, policy.rule ? &policy.rule->storing : nullptr));
    facts.has_peers = request_.config().cluster.has_value();
    facts.may_use_blocks = may_use_blocks_;
    if (facts.range.single() && service_.upstream.shared.part_responses.size() > 0) {
        const auto origin = request_.origin();
        facts.in_one_piece = origin && service_.upstream.in_one_piece(*origin, request_.key.uri());
    }
    if (facts.range.form == RangeRequest::Form::suffix) {
        const auto& view = service_.upstream.peers.view();
        facts.peers_may_have =
            facts.has_peers && view && view->directory &&
            !view->directory->candidates({request_.hash, request_.key.uri()}).empty();
    }
    return facts;
}

std::unique_ptr<FetchJob> ResponseFromCache::make_job() {
    sent_ = request_.snapshot(true);
    auto job = std::make_unique<FetchJob>(service_.cache, sent_,
                                          summary::Key{request_.hash, request_.key.uri()});
    job->wanted.directives = request_.directives;
    job->wanted.may_use_blocks = may_use_blocks_;
    job->from.stale = found_.response;
    return job;
}

/// Fetches a stale response anew while it is served, once, with nobody waiting (RFC 5861 §3).
void ResponseFromCache::renew() {
    if (found_.fill || found_.unshareable || request_.site.none) return;
    auto job = make_job();
    job->from.may_ask_peers =
        may_ask_peers(request_.directives, request_.config().cluster.has_value());
    job->result.fill->keep(kRefreshAtMost);
    if (job->result.lease.take(found_).leads) start_fetch(service_.cache, std::move(job));
}

/// Fetches the whole of a body behind a repeated request for its end, with nobody waiting. Then the
/// store knows where the end is. A large body comes as its index alone, or not at all.
void ResponseFromCache::fill_behind() {
    auto& suffixes = service_.cache.shared.suffix_requests;
    const auto now = Clock::now();
    if (request_.site.none || !suffixes.is_repeated(request_.hash, now)) return;
    auto job = make_job();
    if (!suffixes.begin(request_.hash, job->result.fill, now)) return;
    job->from.may_ask_peers =
        may_ask_peers(request_.directives, request_.config().cluster.has_value());
    job->result.fill->keep(kRefreshAtMost, slice_from(*request_.site.policy.cache));
    if (job->result.lease.take(found_).leads) start_fetch(service_.cache, std::move(job));
}

asio::awaitable<ServeResult> ResponseFromCache::lead(std::unique_ptr<FetchJob> job) {
    Fill::Reader reader(job->result.fill, transaction_.wakeup, true);
    if (job->from.may_ask_peers) job->from.peers_asked = transaction_.peers_asked();
    start_fetch(service_.cache, std::move(job));
    co_return co_await read(reader, true);
}

asio::awaitable<ServeResult> ResponseFromCache::follow(std::shared_ptr<Fill> fill) {
    Fill::Reader reader(std::move(fill), transaction_.wakeup, false);
    co_return co_await read(reader, false);
}

/// Waits for the fill's head, then responds from the fill as it grows.
asio::awaitable<ServeResult> ResponseFromCache::read(Fill::Reader& reader, bool leads) {
    const auto deadline = Clock::now() + kFollowAtMost;
    auto state = reader.state();
    const auto came_first = state.phase == Fill::Phase::waiting;
    for (;;) {
        if (leads) {  // all that came before `state`
            const auto interim = reader.take_interim();
            if (!interim.empty()) co_await pass_interim(interim);
        }
        if (state.phase != Fill::Phase::waiting || state.released) break;
        const auto news = co_await transaction_.wait_for_news(deadline);
        if (news == Transaction::News::client_left) co_return ServeResult::responded;
        if (news == Transaction::News::late) break;
        state = reader.state();
    }
    const FillResponse from{reader, state, leads};
    const auto step = plan_after_wait(seen(from, came_first));
    saw_failure_ = saw_failure_ || may_be_of_one_answer(state.error);
    switch (step) {
        case FollowerStep::alone:
            co_return ServeResult::alone;
        case FollowerStep::look_again:
            ++vain_waits_;
            co_return ServeResult::look_again;
        case FollowerStep::failure:
            note_source(stats_, from);
            co_return co_await respond_to_failure(state);
        case FollowerStep::respond:
            break;
    }
    if (!leads) {
        const auto far = co_await lies_far_ahead(reader, state);
        if (stats_.aborted) co_return ServeResult::responded;
        if (far) co_return ServeResult::alone;
    }
    note_source(stats_, from);
    co_return co_await respond(from);
}

FollowerWait ResponseFromCache::seen(const FillResponse& from, bool came_first) const {
    const auto& state = from.state;
    FollowerWait seen;
    seen.leads = from.leads;
    seen.released = state.released;
    seen.has_head = state.phase != Fill::Phase::waiting && state.phase != Fill::Phase::failed;
    seen.error = state.error;
    seen.stands_in = stands_in(state.error);
    seen.again = saw_failure_;
    seen.unshareable = state.incoming.verdict != StorageVerdict::store;
    if (!seen.has_head || seen.leads || seen.released) return seen;
    const auto& response = *state.incoming.response;
    seen.is_variant = is_variant(response, request_.head.fields);
    const auto may_reuse = may_give(request_.site.policy, response) &&
                           usable(decide_reuse(request_.directives, response.freshness,
                                               response.residence(Clock::now())));
    seen.usable =
        may_reuse || (came_first && may_answer_followers(request_.directives, response.freshness));
    return seen;
}

/// Does the wanted part of a body that another fetch brings come so late that the origin gives it
/// sooner?
asio::awaitable<bool> ResponseFromCache::lies_far_ahead(const Fill::Reader& reader,
                                                        const Fill::State& state) {
    const auto& incoming = state.incoming;
    const auto& response = *incoming.response;
    if (state.phase != Fill::Phase::streaming || incoming.validated) co_return false;
    if (!incoming.length_known)  // where the last bytes begin shows only once all are here
        co_return range_request(request_.head.fields).form == RangeRequest::Form::suffix;
    if (request_.head.verb != verb::get || !accepts_ranges(response.fields())) co_return false;
    const auto part = wanted_part(request_, response, incoming.length);
    if (part.kind != RangeAnswer::Kind::part || not_modified(request_, response)) co_return false;
    const auto origin = request_.origin();
    if (!origin) co_return false;
    const auto usual = service_.upstream.origin_times.of(origin->key).mean();
    const auto bound = std::max<std::chrono::nanoseconds>(kWaitForFlow, usual);
    const auto deadline = Clock::now() + bound;
    for (;;) {
        const auto now = Clock::now();
        const auto time = reader.time_until(part.range.first, now);
        if (time == std::chrono::nanoseconds(0)) co_return false;
        if (now >= deadline || (time && *time > bound)) co_return true;
        const auto news = co_await transaction_.wait_for_news(now + kLookAhead);
        if (news == Transaction::News::client_left) co_return false;
    }
}

asio::awaitable<ServeResult> ResponseFromCache::respond(const FillResponse& from) {
    const auto& incoming = from.state.incoming;
    if (const auto why = transaction_.why_too_young(*incoming.response)) {
        co_await transaction_.refuse_too_young(*why);
        co_return ServeResult::responded;
    }
    if (incoming.stands_in) {
        stats_.cache = CacheResult::stale;
        transaction_.note_stand_in(true);
    }
    const auto status = describe(stats_, from, status_, detail_);
    if (incoming.response->blocks && request_.head.verb == verb::get) {
        std::shared_ptr<const RequestSnapshot> led;
        if (from.fetched() && incoming.from == Fill::From::origin) led = sent_;
        co_return co_await proxy::respond_in_blocks(transaction_, incoming.response, status,
                                                    from.live(), std::move(led));
    }
    co_await respond_from_fill(transaction_, from, status);
    co_return ServeResult::responded;
}

/// Passes interim responses of the origin to the client whose request it was (RFC 9110 §15.2).
asio::awaitable<void> ResponseFromCache::pass_interim(
    const std::vector<InterimResponse>& responses) {
    for (const auto& response : responses) co_await transaction_.interim(response);
}

bool ResponseFromCache::stands_in(FetchError error) const {
    const auto& stale = found_.response;
    const auto& fields = request_.head.fields;
    if (find(fields, field::if_match) || find(fields, field::if_unmodified_since)) return false;
    const auto trouble = trouble_of(error);
    return stale && trouble &&
           may_serve_stale(request_.directives, stale->freshness, stale->residence(Clock::now()),
                           *trouble, request_.site.policy.rules());
}

asio::awaitable<ServeResult> ResponseFromCache::stand_in(FetchError error, unsigned status) {
    if (const auto why = why_too_young()) {
        co_await transaction_.refuse_too_young(*why);
        co_return ServeResult::responded;
    }
    auto by = status_;
    by.detail = to_string(error);
    by.forward_status = status;
    if (!went_forward(error)) by.forward = Forward::none;
    stats_.cache = CacheResult::stale;
    transaction_.note_stand_in(true);
    if (is_in_blocks()) co_return co_await respond_in_blocks(by);
    co_await respond_whole(by);
    co_return ServeResult::responded;
}

/// Without an answer from upstream the response is the stored one, though stale, if that is allowed
/// (RFC 9111 §4.2.4), else an error.
asio::awaitable<ServeResult> ResponseFromCache::respond_to_failure(const Fill::State& state) {
    if (stands_in(state.error)) {
        co_return co_await stand_in(state.error, state.incoming.upstream_status);
    }
    auto status = status_;
    status.detail = to_string(state.error);
    status.forward_status = state.incoming.upstream_status;
    const auto asked = went_forward(state.error);
    stats_.source = Source::none;
    if (!asked) status.forward = Forward::nowhere;
    const auto error = state.error == FetchError::none ? FetchError::head_timeout : state.error;
    co_await transaction_.refuse_fetch(error, request_.key.authority(),
                                       request_.site.asked_server(), status, state.malformed);
    co_return ServeResult::responded;
}

}  // namespace proxy
