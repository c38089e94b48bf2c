#include "proxy/client/response_from_cache.hpp"

#include "proxy/cache/fetch.hpp"
#include "proxy/cache/fetch_job.hpp"
#include "proxy/cache/origin_plan.hpp"
#include "proxy/client/block_stream.hpp"
#include "proxy/client/relay.hpp"
#include "proxy/client/response_from_store.hpp"
#include "proxy/http/fetch_error.hpp"
#include "proxy/http/field_list.hpp"
#include "proxy/http/hop_by_hop.hpp"
#include "proxy/http/request_policy.hpp"
#include "proxy/http/selecting.hpp"
#include "proxy/http/vary.hpp"
#include "proxy/upstream/origin_trouble.hpp"
#include "summary/directory.hpp"

namespace proxy {

namespace asio = boost::asio;
using boost::beast::http::field;
using boost::beast::http::verb;
using Clock = std::chrono::steady_clock;

namespace {

/// How often what is stored may change under one request before it is fetched without the store's
/// help.
constexpr int kMaxLooks = 4;
/// For so many fetches of others a request waits in vain before it fetches for itself, whatever
/// comes of the next one: one that shows by what the target varies, and one more.
constexpr int kMaxVainWaits = 2;

}  // namespace

asio::awaitable<bool> ResponseFromCache::run() {
    for (int looks = 0; looks - vain_waits_ < kMaxLooks; ++looks) {
        may_use_blocks_ = looks - vain_waits_ < 2;
        const auto ended = co_await once();
        if (ended == Followed::keep) co_return true;
        if (ended == Followed::close) co_return false;
        if (ended == Followed::alone) break;
    }
    const auto forward = client_.transaction.forward;
    co_return co_await pass(client_, forward, Outcome::origin_fetch);
}

asio::awaitable<ResponseFromCache::Followed> ResponseFromCache::once() {
    auto& transaction = client_.transaction;
    const auto uri = client_.key.uri();
    auto found = look_up(client_.hash, uri, client_.head.fields, Clock::now());
    if (found.on_disk) found = co_await recall(std::move(found), client_.hash, uri);
    const auto varies =
        found.other_variants || (found.response && !found.response->vary_names.empty());
    if (varies && !transaction.told_of_client) {
        client_.tell_of_client();
        found = look_up(client_.hash, uri, client_.head.fields, Clock::now());
    }
    if (transaction.aborted) co_return Followed::close;
    Lookup lookup{nullptr, {}, found.fill != nullptr, found.other_variants, found.unshareable};
    if (found.response) {
        lookup.stored = &found.response->freshness;
        lookup.residence = found.response->residence(transaction.begun);
    }
    auto plan = plan_reuse(lookup, client_.directives);
    if (plan.serves()) {
        const auto renew = plan.step == ResponseStep::serve_and_renew;
        transaction.cache = plan.reuse == Reuse::fresh ? CacheResult::hit : CacheResult::stale;
        CacheStatus hit;
        hit.ttl = time_to_live(*lookup.stored, lookup.residence);
        // Where the blocks of a body are is said when they are looked at.
        if (frontend_.cache.shared.store.disk() && !found.response->blocks)
            hit.detail = comes_from_disk(client_, *found.response) ? "disk" : "memory";
        // Blocks that are missing are fetched for this client, and stale answers anew.
        if (renew || found.response->blocks) client_.tell_of_client();
        if (renew) {
            hit.detail = "stale-while-revalidate";
            refresh(found);
        }
        co_return co_await answer_whole(found.response, hit);
    }
    const auto asking = this->asking();
    plan = plan_fetch(plan, lookup, asking);
    CacheStatus status;
    status.forward = transaction.forward = plan.forward;
    transaction.client_reload = plan.reuse == Reuse::request;
    transaction.cache = found.response ? CacheResult::reval : CacheResult::miss;
    client_.tell_of_client();
    if (plan.step == ResponseStep::refuse) {
        const auto keep = co_await refuse_to_fetch();
        co_return ended(keep);
    }
    if (plan.step == ResponseStep::relay) co_return Followed::alone;

    if (const auto none = client_.site.none) {
        const auto keep = co_await client_.refuse_without_site(*none);
        co_return ended(keep);
    }
    auto job = make_job(found);
    job->from.may_ask_peers = plan.may_ask_peers;
    if (plan.in_part) job->wanted.part = WantedPart{asking.range, plan.of_version};
    if (plan.collapse && vain_waits_ < kMaxVainWaits) {
        auto taken = job->result.claim.take(found);
        if (!taken.leads) {
            if (!taken.other) co_return Followed::again;
            status.collapsed = true;
            if (vain_waits_ == 0) ++frontend_.counters.collapsed;
            const auto followed = co_await follow(std::move(taken.other), found.response, status);
            if (followed != Followed::alone) co_return followed;
            status.collapsed = false;
        }
    } else {
        job->result.claim.stay_alone(found.invalidations);
    }
    co_return co_await lead(std::move(job), found.response, status);
}

/// What was stored under settings that are not those of now any more ends when it is asked for.
Store::Found ResponseFromCache::look_up(summary::KeyHash hash, std::string_view uri,
                                        const Selecting& request, Clock::time_point now) const {
    auto found = frontend_.cache.look_up(hash, uri, request, now);
    if (!found.response || may_give(client_.site.policy, *found.response)) return found;
    frontend_.cache.shared.drop(hash, now);
    return frontend_.cache.look_up(hash, uri, request, now);
}

/// What the disk has is brought into memory first. If that takes too long, or is too much, it is as
/// if it were not stored.
asio::awaitable<Store::Found> ResponseFromCache::recall(Store::Found found, summary::KeyHash hash,
                                                        std::string_view uri) {
    auto& store = frontend_.cache.shared.store;
    const auto deadline = Clock::now() + kRecallAtMost;
    for (int rounds = 0; found.on_disk && rounds < kMaxLooks; ++rounds) {
        const auto recalled = store.recall(hash, uri, client_.wakeup);
        if (recalled == Store::Recall::refused) break;
        if (recalled == Store::Recall::waiting) {
            const auto news = co_await client_.wait_for_news(deadline);
            if (news != ClientContext::News::come) break;
        }
        const auto by = selecting();
        found = look_up(hash, uri, by, Clock::now());
        client_.transaction.recalled = found.response != nullptr;
    }
    co_return found;
}

Asking ResponseFromCache::asking() const {
    const auto& fields = client_.head.fields;
    Asking asking{client_.directives, range_request(fields)};
    asking.is_head = client_.head.verb == verb::head;
    asking.if_range = find(fields, field::if_range) != nullptr;
    asking.conditions_for_origin =
        find(fields, field::if_match) || find(fields, field::if_unmodified_since);
    asking.authorization = find(fields, field::authorization) != nullptr;
    asking.has_peers = client_.config().cluster.has_value();
    asking.may_use_blocks = may_use_blocks_;
    if (asking.range.single() && frontend_.upstream.part_responses.size() > 0) {
        const auto origin = client_.origin();
        asking.in_one_piece = origin && frontend_.upstream.in_one_piece(*origin, client_.key.uri());
    }
    if (asking.range.form == RangeRequest::Form::suffix) {
        const auto& view = frontend_.upstream.peers;
        asking.peers_may_have =
            asking.has_peers && view && view->directory &&
            !view->directory->candidates({client_.hash, client_.key.uri()}).empty();
    }
    return asking;
}

std::unique_ptr<FetchJob> ResponseFromCache::make_job(const Store::Found& found) {
    request_ = client_.snapshot(true);
    auto job = std::make_unique<FetchJob>(frontend_.cache, request_,
                                          summary::Key{client_.hash, client_.key.uri()});
    job->wanted.directives = client_.directives;
    job->from.stale = found.response;
    job->wanted.may_use_blocks = may_use_blocks_;
    return job;
}

/// Fetches anew what is being served stale, once, with nobody waiting for it (RFC 5861 §3).
void ResponseFromCache::refresh(const Store::Found& found) {
    if (found.fill || found.unshareable) return;
    if (client_.site.none) return;
    auto job = make_job(found);
    job->from.may_ask_peers =
        may_ask_peers(client_.directives, client_.config().cluster.has_value());
    job->result.fill->keep(kRefreshAtMost);
    if (job->result.claim.take(found).leads) start_fetch(frontend_.cache, std::move(job));
}

asio::awaitable<ResponseFromCache::Followed> ResponseFromCache::lead(std::unique_ptr<FetchJob> job,
                                                                     Stored stale,
                                                                     CacheStatus status) {
    Fill::Reader reader(job->result.fill, client_.wakeup, true);
    if (job->from.may_ask_peers) job->from.peers_asked = client_.peers_asked();
    start_fetch(frontend_.cache, std::move(job));
    co_return co_await read(reader, true, std::move(stale), status);
}

asio::awaitable<ResponseFromCache::Followed> ResponseFromCache::follow(std::shared_ptr<Fill> fill,
                                                                       Stored stale,
                                                                       CacheStatus status) {
    Fill::Reader reader(std::move(fill), client_.wakeup, false);
    co_return co_await read(reader, false, std::move(stale), status);
}

/// Waits for the fill's head, then answers from it as it grows.
asio::awaitable<ResponseFromCache::Followed> ResponseFromCache::read(Fill::Reader& reader,
                                                                     bool leader, Stored stale,
                                                                     CacheStatus status) {
    const auto deadline = Clock::now() + kFollowAtMost;
    auto state = reader.state();
    const auto came_first = state.phase == Fill::Phase::waiting;
    for (;;) {
        if (leader) co_await pass_interim(reader);  // all that came before `state`
        if (state.phase != Fill::Phase::waiting || state.released) break;
        const auto news = co_await client_.wait_for_news(deadline);
        if (news == ClientContext::News::client_left) co_return Followed::close;
        if (news == ClientContext::News::late) break;
        state = reader.state();
    }
    FetchSeen seen;
    seen.leads = leader;
    seen.released = state.released;
    seen.has_head = state.phase != Fill::Phase::waiting && state.phase != Fill::Phase::failed;
    seen.error = state.error;
    seen.stands_in = stands_in(stale, state.error);
    seen.unshareable = state.answer.verdict != StorageVerdict::store;
    if (seen.has_head && !leader && !seen.released) {
        const auto& response = *state.answer.response;
        seen.is_variant = is_variant(response);
        seen.usable =
            may_reuse(response) ||
            (came_first && may_answer_those_waiting(client_.directives, response.freshness));
    }
    switch (plan_after_wait(seen)) {
        case FromFetch::alone:
            co_return Followed::alone;
        case FromFetch::look_again:
            ++vain_waits_;
            co_return Followed::again;
        case FromFetch::failure:
            note_source(state, leader);
            co_return co_await answer_failure(std::move(state), std::move(stale), status);
        case FromFetch::answer:
            break;
    }
    if (!leader) {
        const auto far = co_await lies_far_ahead(reader, state);
        if (client_.transaction.aborted) co_return Followed::close;
        if (far) co_return Followed::alone;
    }
    note_source(state, leader);
    co_return co_await answer_read(reader, std::move(state), leader, status);
}

/// What the client wants of a body that another fetch brings comes so late that the origin gives it
/// sooner.
asio::awaitable<bool> ResponseFromCache::lies_far_ahead(const Fill::Reader& reader,
                                                        const Fill::State& state) {
    const auto& answer = state.answer;
    const auto& response = *answer.response;
    if (state.phase != Fill::Phase::streaming || answer.validated || !answer.length_known)
        co_return false;
    if (client_.head.verb != verb::get || !accepts_ranges(response.fields())) co_return false;
    const auto part = wanted_part(client_, response, answer.length);
    if (part.kind != RangeAnswer::Kind::part || not_modified(client_, response)) co_return false;
    const auto origin = client_.origin();
    if (!origin) co_return false;
    const auto usual = frontend_.upstream.origin_times.of(place_of(*origin)).mean();
    const auto bound = std::max<std::chrono::nanoseconds>(kWaitForFlow, usual);
    const auto deadline = Clock::now() + bound;
    for (;;) {
        const auto now = Clock::now();
        const auto time = reader.time_until(part.range.first, now);
        if (time == std::chrono::nanoseconds(0)) co_return false;
        if (now >= deadline || (time && *time > bound)) co_return true;
        const auto news = co_await client_.wait_for_news(now + FlowRate::kTells);
        if (news == ClientContext::News::client_left) co_return false;
    }
}

asio::awaitable<ResponseFromCache::Followed> ResponseFromCache::answer_read(Fill::Reader& reader,
                                                                            Fill::State state,
                                                                            bool leader,
                                                                            CacheStatus status) {
    auto& transaction = client_.transaction;
    const auto& answer = state.answer;
    const auto& response = *answer.response;
    // What a 304 made good again answers everybody as a hit does, after the trip.
    if (answer.shared && !answer.validated && leader) {
        status.stored = state.phase == Fill::Phase::complete && !response.blocks;
        status.ttl = time_to_live(response.freshness, response.residence(Clock::now()));
    }
    if (answer.upstream_status != response.status) status.forward_status = answer.upstream_status;
    if (answer.source == Fill::Source::peer) {
        peer_detail_ = "PEER_" + answer.peer;
        status.detail = peer_detail_;
    } else if (leader && answer.verdict != StorageVerdict::store) {
        status.detail = to_string(answer.verdict);
    }
    transaction.validated = answer.validated;
    const auto fetched = leader && !answer.validated;
    transaction.source = !fetched && response.body->on_disk()  ? Source::disk
                         : !fetched                            ? Source::memory
                         : answer.source == Fill::Source::peer ? Source::peer
                                                               : Source::origin;
    transaction.outcome = outcome_of(transaction.source);
    const auto live = leader ? answer.live.get() : nullptr;
    if (response.blocks && client_.head.verb == verb::get)
        co_return co_await answer_in_blocks(answer.response, status, live,
                                            fetched && answer.source == Fill::Source::origin);

    std::optional<std::chrono::seconds> age;
    if (!leader || answer.validated || (live && live->has_age))
        age = current_age(response.freshness, response.residence(Clock::now()));
    // The leader's conditions were taken off its request, so they are judged here.
    const auto unchanged = (answer.shared || leader) && not_modified(client_, response);
    if (unchanged) {
        const auto keep = co_await send_not_modified(client_, response, live, age, status);
        co_return ended(keep);
    }

    transaction.status = response.status;
    client_.note_type(response);
    const auto length = answer.length_known ? std::optional(answer.length) : std::nullopt;
    const auto part = wanted_part(client_, response, length);
    if (part.kind == RangeAnswer::Kind::unsatisfiable) {
        const auto keep = co_await send_unsatisfiable(client_, answer.length, status);
        co_return ended(keep);
    }
    // What a 304 made good again stands in the store, and maybe on the disk.
    auto& windows = frontend_.cache.shared.windows;
    auto body =
        answer.validated ? BodyReader(response, client_.wakeup, windows) : BodyReader(reader);
    BodySender::What what;
    what.fetched = fetched;
    what.stored_in = transaction.source;
    if (part.kind == RangeAnswer::Kind::part) {
        compose_part(client_, response.head, live, age, status, part.range, answer.length);
        body.consume(part.range.first);
        what.bytes = part.range.size();
    } else {
        what.framing = client_.framing(response.status, length);
        client_.compose(response.head, live, age, status, what.framing, answer.length);
    }
    BodySender sender(client_, body, what);
    const auto sent = co_await sender.run();
    co_return ended(sent && what.framing != Framing::close && client_.keep_alive());
}

/// Interim answers of the origin to the client whose request it was (RFC 9110 §15.2).
asio::awaitable<void> ResponseFromCache::pass_interim(Fill::Reader& reader) {
    const auto text = reader.take_interim();
    if (text.empty() || client_.head.version < 11) co_return;
    client_.buffers.assign(1, asio::buffer(text));
    co_await client_.connection.send(client_.buffers);
}

bool ResponseFromCache::may_reuse(const StoredResponse& response) const {
    return may_give(client_.site.policy, response) &&
           usable(decide_reuse(client_.directives, response.freshness,
                               response.residence(Clock::now())));
}

/// Is this the variant for this request?
bool ResponseFromCache::is_variant(const StoredResponse& response) {
    return response.vary_names.empty() ||
           variant_matches(response.vary_names, response.variant, selecting(), client_.out);
}

Selecting ResponseFromCache::selecting() {
    Selecting by(client_.head.fields);
    by.hashed = hashed_ ? &*hashed_ : nullptr;
    return by;
}

void ResponseFromCache::note_source(const Fill::State& state, bool leader) {
    auto& transaction = client_.transaction;
    transaction.note_server(state.answer.server);
    if (leader && state.answer.source == Fill::Source::peer) transaction.peer = state.answer.peer;
    if (!leader) transaction.cache = CacheResult::hit;
}

asio::awaitable<bool> ResponseFromCache::refuse_to_fetch() {
    auto status = kOwnAnswer;
    status.detail = "only-if-cached";
    co_return co_await client_.refuse(504, "Not in this cache, and only-if-cached was asked for.",
                                      status);
}

/// May this be given to this client in place of what could not be fetched?
bool ResponseFromCache::stands_in(const Stored& stale, FetchError error) const {
    const auto trouble = trouble_of(error);
    return stale && trouble &&
           may_serve_stale(client_.directives, stale->freshness, stale->residence(Clock::now()),
                           *trouble, client_.site.policy.rules());
}

/// No answer from upstream: what is stored, though stale, if that is allowed (RFC 9111 §4.2.4),
/// else an error.
asio::awaitable<ResponseFromCache::Followed> ResponseFromCache::answer_failure(Fill::State state,
                                                                               Stored stale,
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
asio::awaitable<ResponseFromCache::Followed> ResponseFromCache::answer_whole(Stored response,
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
asio::awaitable<ResponseFromCache::Followed> ResponseFromCache::answer_in_blocks(
    Stored index, CacheStatus status, const LiveFields* live, bool leads) {
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
    BlockStream stream(client_, index, leads ? request_ : nullptr);
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
