#include "proxy/fetch/fetch.hpp"

#include <utility>

#include "proxy/config/config_disk.hpp"
#include "proxy/fetch/block_index.hpp"
#include "proxy/fetch/block_plan.hpp"
#include "proxy/fetch/meeting_plan.hpp"
#include "proxy/fetch/open_flow.hpp"
#include "proxy/fetch/reader_timeout.hpp"
#include "proxy/http/cache_status.hpp"
#include "proxy/http/field_list.hpp"
#include "proxy/http/hop_by_hop.hpp"
#include "proxy/http/min_age.hpp"
#include "proxy/http/request_policy.hpp"
#include "proxy/http/validators.hpp"
#include "proxy/http/wall_clock.hpp"
#include "proxy/rewrite/head_rewrite.hpp"
#include "proxy/upstream/origin_trouble.hpp"
#include "proxy/upstream/rewrite_response.hpp"

namespace proxy {
namespace {

namespace asio = boost::asio;
using Clock = std::chrono::steady_clock;

constexpr std::string_view kStaleToo = " stale", kToStandIn = " stale stand-in";

/// Nobody has confirmed it, so it is stale from its arrival on, and not stored.
void never_fresh(StoreCandidate& made) {
    auto& freshness = made.response->freshness;
    end_lifetime(freshness, std::chrono::seconds(0));
    freshness.stale_while_revalidate = StoredSeconds(-1);
    made.verdict = StorageVerdict::not_reusable;
}

/// Status of the response; 0: there is none.
unsigned status_of(const OriginAttempt& attempt) {
    return *attempt.result == FetchError::none ? attempt.response().head().status : 0;
}

/// `fill`: null when no reader wants this response any more.
asio::awaitable<void> pass_interim_on(Fill* fill, const RequestSnapshot& asks,
                                      const Head& interim) {
    if (fill == nullptr) co_return;
    fill->interim(interim_of_origin(asks.config(), asks.policy().mirror, asks.key, interim));
}

asio::awaitable<void> run_fetch(Cache& cache, std::unique_ptr<FetchJob> job) {
    const ReaderTimeout leash(cache.upstream.wheel, *job);
    Fetch running(cache, *job);
    co_await running.run();
}

}  // namespace

Fetch::Fetch(Cache& cache, FetchJob& job)
    : cache_(cache),
      config_(job.wanted.request->config()),
      job_(job),
      delivery_(cache, job),
      peers_(cache, job),
      meeting_(cache, job, delivery_, peers_) {}

Fetch::~Fetch() {
    if (origin_) origin_->lose();
}

asio::awaitable<void> Fetch::run() {
    if (job_.from.may_ask_peers) {
        job_.from.of_run = job_.wanted.block && may_meet() && !meeting_.known_fetcher().empty();
        const auto answered = co_await try_peers();
        if (answered) co_return;
        if (!origin_ && may_meet()) {
            // Most misses neither ask nor follow, and need no coroutine to find that out.
            auto meeting = meeting_.find_meeting({});
            if (meeting.leads_anywhere()) {
                FetchMeeting::TakeHit take = [this](PeerRequest& asked) { return take_all(asked); };
                const auto followed = co_await meeting_.follow(std::move(meeting), std::move(take));
                if (followed) co_return;
            }
        }
    }
    if (job_.wanted.block && !origin_ && may_meet() && is_in_another_flow(cache_, job_))
        delivery_.fail({FetchError::abandoned});  // its readers join that
    else
        co_await ask_origin();
}

RoundTrip Fetch::time_of_origin() const {
    const auto& target = job_.wanted.request->origin();
    return target ? cache_.upstream.origin_times.of(target->key) : RoundTrip();
}

OriginRequestKind Fetch::what_to_ask_now(bool only_whole) const {
    return what_to_ask(facts_of(job_, stale_copy_.has_value(), only_whole));
}

/// Asks peers, and after their budget the origin beside them. True when a peer gave the response,
/// whole or not: the fetch is over. False: the origin's turn; origin_ may have a response already.
asio::awaitable<bool> Fetch::try_peers() {
    const auto view = cache_.upstream.peers.view();
    if (!view || !view->directory) co_return false;
    const auto origin = time_of_origin();
    const auto now = Clock::now();
    peers_.sample_misses(view, now);
    const auto whom = peers_.whom_to_ask(*view, origin, now);
    if (whom.count == 0) co_return false;
    origin_usual_ = origin;
    const auto nearest = peers_.round_trip_to(view->peers[whom.turns[0].peer]);
    PeerRequestPlan plan(whom, nearest, origin, config_.constants.peers,
                         can_ask_origin() && !peers_.asks_all() && !meeting_.is_fed_by_peer(), now);
    if (job_.from.of_run) plan.spare_origin(config_.constants.peers, now);
    HedgedFetch race(cache_.upstream, job_.result.wakeup);
    for (;;) {
        auto* ended = race.take_ended();
        if (ended != nullptr) {
            const auto answered = co_await take_peer(race, plan, *ended);
            if (answered) co_return true;
            continue;
        }
        if (origin_ && origin_->result == FetchError::none) co_return false;
        PeerRequestPlan::InFlightRequests open{race.peers_open()};
        open.origin = origin_ && origin_->under_way;
        open.origin_ended = open.origin && origin_->result;
        const auto step = plan.next(open, Clock::now());
        switch (step.step) {
            case AskStep::no_peers:
                co_return false;
            case AskStep::wait:
                co_await job_.result.wakeup->wait_until(step.at);
                break;
            case AskStep::ask_origin:
                if (!start_origin(race)) plan.origin_cannot_be_asked();
                break;
            case AskStep::ask_peer:
                if (!start_peer(race, plan, whom, view)) co_return false;
                break;
        }
    }
}

/// Sends the next peer request. False when no peer can get one: the worker is stopping, or the
/// client's request has too many fields.
bool Fetch::start_peer(HedgedFetch& race, PeerRequestPlan& plan, const PeerTurns& whom,
                       const std::shared_ptr<const protocol::PeerView>& view) {
    const auto next = plan.ask(race.peers_open());
    if (next.again) ++cache_.upstream.counters.peer_repeats;
    const PeerOfView peer{view, next.turn.peer};
    auto text = peers_.request_text(peer->token, Clock::now());
    if (text.empty()) return false;
    plan.asked(peers_.round_trip_to(*peer), Clock::now());
    auto attempt = std::make_shared<PeerAttempt>(
        cache_.upstream, peer, PeerPatience{next.budget, plan.latest()}, next.turn.promised);
    if (!whom.beside_the_origin) attempt->alone = next.budget;
    peers_.show(attempt->request);
    meeting_.asked(peer->node);
    return race.start(std::move(attempt), std::move(text));
}

/// Sends the origin request while peers are still asked. False: not now; the reason shows when it
/// is the origin's turn.
bool Fetch::start_origin(HedgedFetch& race) {
    if (leave_after_pause() != OriginHealth::Grant::ask) return false;
    if (!origin_) origin_ = prepare_origin(what_to_ask_now());
    const auto& permit = origin_->permit;
    const bool may_start =
        permit.allowed() && !(permit.is_trial() && has_stand_in()) && race.start(origin_);
    if (!may_start) origin_.reset();
    return may_start;
}

/// A peer request has ended: true when its response is the result of the fetch.
asio::awaitable<bool> Fetch::take_peer(HedgedFetch& race, PeerRequestPlan& plan,
                                       PeerAttempt& attempt) {
    auto& asked = attempt.request;
    const auto verdict = *attempt.verdict;
    if (verdict != PeerVerdict::failure && verdict != PeerVerdict::timeout)
        meeting_.answered(asked.peer().node);
    auto& exchange = asked.exchange();
    const auto& head = exchange.head();
    if (verdict == PeerVerdict::stale_hit && !job_.from.stale && !stale_copy_)
        stale_copy_ = stale_copy_at(asked.peer().node, head);
    if (verdict != PeerVerdict::hit) {
        peers_.learn_from(attempt, false, origin_usual_, Clock::now());
        if (verdict == PeerVerdict::refused && peers_.learn_selecting_fields(head))
            plan.ask_again({asked.peer_index(), attempt.promised});
        co_return false;
    }
    co_return co_await take_hit(asked, [&](bool taken) {
        peers_.learn_from(attempt, taken, origin_usual_, Clock::now());
        if (taken) peer_won(race, attempt);
    });
}

/// A peer gives a response. True when it is the result of the fetch; `judged` hears of that before
/// the body comes.
asio::awaitable<bool> Fetch::take_hit(PeerRequest& asked, const std::function<void(bool)>& judged) {
    auto& exchange = asked.exchange();
    const auto& head = exchange.head();
    learn_first_sight(head);
    auto from = exchange.received();
    from.from_peer = true;
    if (!job_.wanted.block && length_of_head_alone(head)) {
        const auto taken = take_head(asked, from);
        judged(taken);
        co_return taken;
    }
    auto made = delivery_.candidate(from);
    const auto verdict = peers_.judge(exchange, made, Clock::now());
    if (verdict != PeerVerdict::hit) asked.close(verdict);
    judged(verdict == PeerVerdict::hit);
    if (verdict != PeerVerdict::hit) co_return false;
    Delivery::Sender sender{Fill::From::peer, asked.peer().node, head.status};
    if (job_.from.of_run) meeting_.await_rest_elsewhere();
    const auto ended = co_await delivery_.run(exchange, from, std::move(made), std::move(sender));
    asked.close(ended);
    co_await take_blocks_behind(delivery_);
    co_return true;
}

/// Another node may give a body that the origin is about to send. The origin's response is dropped
/// once that node has given a good head.
asio::awaitable<bool> Fetch::meet_after_head(Exchange& from_origin) {
    if (!job_.from.may_ask_peers || !may_meet()) co_return false;
    const std::function<void(bool)> judged = [&from_origin](bool good) {
        if (good) from_origin.finish();
    };
    FetchMeeting::TakeHit take = [this, &judged](PeerRequest& asked) {
        return take_hit(asked, judged);
    };
    const auto followed = co_await meeting_.follow_after_head(std::move(take));
    co_return followed;
}

asio::awaitable<bool> Fetch::take_all(PeerRequest& asked) {
    const auto taken = co_await take_hit(asked, [](bool) {});
    co_return taken;
}

/// A peer may state when it first saw the content that it gives.
void Fetch::learn_first_sight(const Head& of_peer) const {
    const auto& request = *job_.wanted.request;
    const auto* rule = request.policy().rule;
    if (!may_judge_age(rule)) return;
    const auto status = length_of_head_alone(of_peer) ? 200u : of_peer.status;
    cache_.shared.first_sights.learn({*rule, request.key.uri(), status, of_peer.fields},
                                     wall_now());
}

void Fetch::peer_won(HedgedFetch& race, const PeerAttempt& winner) {
    race.won_by(&winner);
    if (!origin_) return;
    origin_->lose();
    origin_.reset();
}

/// Takes the head of a body that the peer has in blocks, or gives as its head alone. True when that
/// is the result of the fetch.
bool Fetch::take_head(PeerRequest& asked, const ReceivedHead& from, bool validated) {
    auto index = make_index(delivery_, from, *length_of_head_alone(from.head));
    const auto judged = !index      ? PeerVerdict::unusable
                        : validated ? PeerVerdict::hit
                                    : peers_.judge(*index->candidate.response, Clock::now());
    const auto good = judged == PeerVerdict::hit;
    asked.close(judged);
    Delivery::Sender sender{Fill::From::peer, asked.peer().node, validated ? 304u : 200u};
    const auto* fetcher = find(from.head.fields, kFetcherField);
    if (good && fetcher && may_fetch_once(*job_.wanted.request))
        meeting_.note_fetcher(fetcher->value);
    if (good) publish(delivery_, std::move(*index), std::move(sender));
    asked.exchange().finish();
    return good;
}

/// The origin request, not sent yet. Precondition: `kind` is not impossible.
std::shared_ptr<OriginAttempt> Fetch::prepare_origin(OriginRequestKind kind) {
    additions_ = additions_for(kind, job_, stale_copy_);
    const auto& block = job_.wanted.block;
    const auto pin = block ? std::optional(block->version.server) : std::nullopt;
    AddedLines added{std::move(additions_.lines), std::move(additions_.source), pin,
                     kind == OriginRequestKind::block};
    auto attempt = std::make_shared<OriginAttempt>(cache_.upstream, job_.wanted.request,
                                                   has_stand_in(), std::move(added));
    attempt->response().terms().on_interim = [run = attempt.get(),
                                              fill = job_.result.fill](const Head& interim) {
        return pass_interim_on(run->lost ? nullptr : fill.get(), *run->snapshot, interim);
    };
    return attempt;
}

/// `only_whole`: without conditions and ranges of this node, as the response to those made no
/// sense.
asio::awaitable<void> Fetch::ask_origin(bool only_whole) {
    if (only_whole) stale_copy_.reset();
    const auto kind = what_to_ask_now(only_whole);
    if (kind == OriginRequestKind::impossible) {
        delivery_.fail({why_not_ask(facts_of(job_, false, false))});
        co_return;
    }
    const auto leave = origin_ ? OriginHealth::Grant::ask : leave_after_pause();
    if (leave == OriginHealth::Grant::no) {
        delivery_.fail({FetchError::backed_off});
        co_return;
    }
    const auto& block = job_.wanted.block;
    if (!origin_ && block && block->up_to > block->range.last && job_.from.may_ask_peers &&
        may_meet())
        open_flow(cache_, job_, body_around(*block), block->to_ask(), true);
    // A request that went out beside peers has ended; it knows nothing of their responses.
    const auto attempt = origin_ ? std::exchange(origin_, nullptr) : prepare_origin(kind);
    attempt->take();
    if (!attempt->result) {
        const auto is_slow = leave == OriginHealth::Grant::trial;
        if (is_slow || (attempt->permit.is_trial() && has_stand_in())) {
            co_await probe_unattended(*attempt,
                                      is_slow ? FetchError::backed_off : FetchError::origin_down);
            co_return;
        }
        const auto ended = co_await attempt->run();
        attempt->result = ended;
    }
    auto asked = std::move(additions_);
    if (!attempt->lines_count()) asked.did_not_count();
    const auto meaning = meaning_of(*attempt, asked);
    const auto status = status_of(*attempt);
    if (status > 0) note_pause(*attempt, meaning.error == FetchError::origin_error);
    if (const auto trouble = trouble_in(meaning, status)) {
        const auto answered = co_await ask_peers_instead(*trouble, status);
        if (answered) co_return;
    }
    if (meaning.step == OriginStep::fail)
        delivery_.fail(
            {meaning.error, status, meaning.unshareable, attempt->response().malformed()});
    else
        co_await take_origin(meaning.step, asked, attempt->response());
}

/// The trouble of the origin that a stale response may stand in for.
std::optional<OriginTrouble> Fetch::trouble_in(const OriginMeaning& meaning,
                                               unsigned status) const {
    if (meaning.step == OriginStep::fail && status == 0) return trouble_of(meaning.error);
    const auto& policy = job_.wanted.request->policy();
    const auto failed = is_origin_trouble(status) || policy.takes_for_failure(status);
    return failed ? std::optional(OriginTrouble::error) : std::nullopt;
}

/// The origin is in trouble, `status` is that of its response. A peer may have what this node
/// lacks: a fresh copy of what is stale here, or a stale one that may stand in. False: none has.
asio::awaitable<bool> Fetch::ask_peers_instead(OriginTrouble trouble, unsigned status) {
    if (stale_copy_) co_return co_await stand_in_by_peer(trouble, status);
    const auto may_help = job_.from.stale && job_.from.others_have && !may_stand_in(trouble);
    if (!may_help || peers_.asks_all()) co_return false;
    peers_.ask_all();
    co_return co_await try_peers();
}

/// No other request goes out meanwhile.
PeerPatience Fetch::patience_for_copies() const {
    const auto latest = config_.constants.peers.budget_most;
    return {latest, latest};
}

/// Asks for the copy that a peer has announced, although it is stale; `word` says what for.
asio::awaitable<PeerVerdict> Fetch::ask_for_copy(PeerRequest& asked, std::string_view word) {
    peers_.show(asked);
    auto text = peers_.request_text(asked.peer().token, Clock::now(), word);
    const auto verdict = co_await asked.send(std::move(text), true);
    co_return verdict;
}

/// Gives the stale copy of a peer, which is stored nowhere by that.
asio::awaitable<bool> Fetch::stand_in_by_peer(OriginTrouble trouble, unsigned status) {
    const auto copy = *std::exchange(stale_copy_, std::nullopt);
    const auto peer = peers_.peer_in_step(copy.peer);
    if (!peer || !(*peer)->renews) co_return false;  // an earlier build does not know the word
    PeerRequest asked(cache_.upstream, *peer, patience_for_copies());
    const auto verdict = co_await ask_for_copy(asked, kToStandIn);
    auto& exchange = asked.exchange();
    if (verdict != PeerVerdict::hit || length_of_head_alone(exchange.head())) {
        asked.close(PeerVerdict::too_old);
        co_return false;
    }
    learn_first_sight(exchange.head());
    auto from = exchange.received();
    from.from_peer = true;
    auto made = delivery_.candidate(from);
    const auto judged = exchange.has_framing() ? peers_.judge_stand_in(made, trouble, Clock::now())
                                               : PeerVerdict::unusable;
    if (judged != PeerVerdict::hit) {
        asked.close(judged);
        co_return false;
    }
    never_fresh(made);
    Delivery::Sender sender{Fill::From::peer, (*peer)->node, status};
    sender.stands_in = true;
    const auto ended = co_await delivery_.run(exchange, from, std::move(made), std::move(sender));
    asked.close(ended);
    co_return true;
}

/// A stored response is given at once, as the origin wants fewer requests.
OriginHealth::Grant Fetch::leave_after_pause() {
    if (!leave_)
        leave_ = !cache_.upstream.backoff.empty() && may_stand_in(OriginTrouble::error)
                     ? cache_.upstream.leave_after_pause(*job_.wanted.request)
                     : OriginHealth::Grant::ask;
    return *leave_;
}

/// The request has an answer. `is_hidden`: a stored response takes its place.
void Fetch::note_pause(OriginAttempt& attempt, bool is_hidden) {
    if (!is_hidden && cache_.upstream.backoff.empty()) return;
    const auto got = attempt.response().received();
    cache_.upstream.note_pause(*job_.wanted.request, {got.head, got.arrival, got.took}, is_hidden);
}

/// Finds out whether the origin is back, behind a stored response that is given at once.
asio::awaitable<void> Fetch::probe_unattended(OriginAttempt& attempt, FetchError why) {
    const auto& timeouts = config_.timeouts;
    job_.result.fill->keep(timeouts.origin_connect + timeouts.origin_head);
    delivery_.fail({why});
    const auto ended = co_await attempt.run();
    if (ended != FetchError::none) co_return;
    const auto status = attempt.response().head().status;
    note_pause(attempt, is_origin_trouble(status) ||
                            job_.wanted.request->policy().takes_for_failure(status));
}

/// Carries out `step`. `asked`: of the request that `exchange` has the response to.
asio::awaitable<void> Fetch::take_origin(OriginStep step, const RequestAdditions& asked,
                                         Exchange& exchange) {
    switch (step) {
        case OriginStep::ask_whole:
            exchange.finish();
            co_await ask_origin(true);
            co_return;
        case OriginStep::take_block:
            co_await take_block(delivery_, exchange);
            co_return;
        case OriginStep::renew_stored:
            exchange.finish();
            ++cache_.upstream.counters.validations;
            if (!renew_stored(exchange, asked.stored_fields)) co_await ask_origin(true);
            co_return;
        case OriginStep::take_copy:
            exchange.finish();
            ++cache_.upstream.counters.validations;
            co_await fetch_validated(exchange);
            co_return;
        case OriginStep::begin_in_blocks:
            co_await begin_in_blocks(delivery_, exchange);
            co_return;
        case OriginStep::offer_in_blocks: {
            const auto length = *exchange.content_length();
            auto index = make_index(delivery_, exchange.received(), length);
            if (!index) break;
            const auto comes_from_peer = co_await meet_after_head(exchange);
            if (comes_from_peer) co_return;
            const ByteRange all{0, length - 1};
            co_await run_in_blocks(delivery_, std::move(*index), exchange, all);
            co_return;
        }
        case OriginStep::pass:
        case OriginStep::fail:
            break;
    }
    if (job_.from.stale) {
        const auto made = delivery_.candidate(exchange.received());
        end_stored(made.verdict, made.response->status, asked.validators.any());
    }
    co_await delivery_.deliver(exchange);
}

OriginMeaning Fetch::meaning_of(const OriginAttempt& attempt, const RequestAdditions& asked) const {
    OriginResult result;
    result.error = *attempt.result;
    if (result.error == FetchError::none) {
        result.head = &attempt.response().head();
        result.length = attempt.response().content_length();
        const auto& policy = job_.wanted.request->policy();
        // The client may have what is stored. An origin without conditions says so with a 200.
        const auto& sent = asked.validators;
        if (policy.authorizes_each() && asked.kind == OriginRequestKind::validate_stored &&
            result.head->status == 200 && sent.strong() &&
            only_value(result.head->fields, boost::beast::http::field::etag) == sent.etag)
            return {OriginStep::renew_stored};
        if (policy.mirror && asked.kind == OriginRequestKind::first_block &&
            is_part_to_rewrite(*policy.mirror, *result.head, job_.wanted.request->target()))
            return {OriginStep::ask_whole};
        if (policy.takes_for_failure(result.head->status) && may_stand_in(OriginTrouble::error))
            return {OriginStep::fail, FetchError::origin_error};
    }
    return proxy::meaning_of(asked.kind, asked.validators, result,
                             may_stand_in(OriginTrouble::error),
                             slice_from(*job_.wanted.request->policy().cache));
}

/// The stored response may be given in place of an origin in this trouble.
bool Fetch::may_stand_in(OriginTrouble trouble) const {
    const auto& stale = job_.from.stale;
    return stale &&
           may_serve_stale(job_.wanted.directives, stale->freshness, stale->residence(Clock::now()),
                           trouble, job_.wanted.request->policy().rules());
}

void Fetch::end_stored(StorageVerdict verdict, unsigned status, bool was_validation) {
    const auto now = Clock::now();
    const auto& stale = *job_.from.stale;
    const auto fresh = is_fresh(stale.freshness, stale.residence(now));
    const auto& request = *job_.wanted.request;
    const auto of_its_user = request.policy().authorizes_each() || identifies_user(request.fields);
    const auto fate = fate_of_stored({verdict, status, was_validation, fresh, of_its_user});
    if (fate == StoredResponseFate::stays) return;
    const auto& lease = job_.result.lease;
    if (fate == StoredResponseFate::ends ||
        !stand_in_for_nothing(cache_.shared.store, lease.hash(), lease.uri(), stale, now))
        cache_.shared.store.invalidate(lease.hash(), now);
}

/// The stored response is good again, with the fields of the 304 (RFC 9111 §4.3.4). False: its
/// head would grow beyond limits.head, so the whole response has to be fetched.
bool Fetch::renew_stored(const Exchange& not_modified, Fields stored) {
    auto fresh = refreshed(delivery_.storing(), *job_.from.stale, stored, not_modified.received());
    if (fresh.too_large) return false;
    auto& verdict = fresh.candidate.verdict;
    end_stored(verdict, 304, true);
    if (verdict == StorageVerdict::store && !delivery_.charge(*fresh.candidate.response))
        verdict = StorageVerdict::no_room;
    delivery_.give(std::move(fresh.candidate), std::move(fresh.live), true,
                   {Fill::From::origin, {}, 304, not_modified.server(), not_modified.redirects()});
    return true;
}

/// A 304 says that a peer's copy is good: fetches that, or the whole if the copy is gone.
asio::awaitable<void> Fetch::fetch_validated(Exchange& not_modified) {
    const auto copy = *std::exchange(stale_copy_, std::nullopt);
    if (const auto peer = peers_.peer_to_ask(copy.peer)) {
        const auto taken = co_await fetch_copy(copy, not_modified, *peer);
        if (taken) co_return;
    }
    co_await ask_origin();
}

/// Gets `copy` from its peer: the peer's body, with the fields of the 304. False: it is gone.
asio::awaitable<bool> Fetch::fetch_copy(const StaleCopy& copy, Exchange& not_modified,
                                        PeerOfView peer) {
    PeerRequest asked(cache_.upstream, peer, patience_for_copies());
    const auto verdict = co_await ask_for_copy(asked, kStaleToo);
    auto& exchange = asked.exchange();
    const auto& given = exchange.head();
    const auto head_alone = length_of_head_alone(given).has_value();
    const auto validation = not_modified.received();
    const UpdatedFields updated(given.fields, validation);
    if (verdict != PeerVerdict::hit || !is_that_copy(copy, given, head_alone) ||
        !updated.fit(config_.limits)) {
        asked.close(PeerVerdict::too_old);  // replaced meanwhile, unless it has ended already
        co_return false;
    }
    learn_first_sight(given);
    Head merged = given;
    merged.fields = updated.merged();
    // The body is the peer's; the fields of the exchange with the origin are for this client.
    const ReceivedHead from{
        merged, validation.request_time, validation.arrival,         updated.own_lines(),
        false,  validation.took,         exchange.received().server, validation.redirects};
    if (head_alone) co_return take_head(asked, from, true);
    auto made = delivery_.candidate(from);
    Delivery::Sender sender{Fill::From::peer, peer->node, 304, not_modified.server(),
                            not_modified.redirects()};
    const auto ended = co_await delivery_.run(exchange, from, std::move(made), std::move(sender));
    asked.close(ended);
    co_return true;
}

void start_fetch(Cache& cache, std::unique_ptr<FetchJob> job) {
    const auto fill = job->result.fill;
    auto& stop = job->progress.stop;
    {
        auto task = run_fetch(cache, std::move(job));
        if (cache.upstream.fetches.spawn(std::move(task), stop)) return;
    }  // the lease first: nobody new joins a fill that has failed
    fill->fail(FetchError::stopping);
}

}  // namespace proxy
