#include "proxy/cache/fetch.hpp"

#include <algorithm>

#include "proxy/cache/block_index.hpp"
#include "proxy/cache/block_plan.hpp"
#include "proxy/cache/delivery.hpp"
#include "proxy/cache/fetch_leash.hpp"
#include "proxy/cache/fetch_peers.hpp"
#include "proxy/cache/origin_plan.hpp"
#include "proxy/cache/request_additions.hpp"
#include "proxy/config/config_disk.hpp"
#include "proxy/http/field_list.hpp"
#include "proxy/http/interim.hpp"
#include "proxy/http/request_policy.hpp"
#include "proxy/http/validators.hpp"
#include "proxy/upstream/head_race.hpp"

namespace proxy {
namespace {

namespace asio = boost::asio;
using boost::beast::http::field;
using Clock = std::chrono::steady_clock;

constexpr std::string_view kStaleToo = " stale";

/// The life of one fetch: where its answer comes from.
class Fetch {
public:
    Fetch(Cache& cache, FetchJob& job)
        : cache_(cache),
          config_(job.wanted.request->config()),
          job_(job),
          delivery_(cache, job),
          peers_(cache, job) {}
    Fetch(const Fetch&) = delete;
    Fetch& operator=(const Fetch&) = delete;
    ~Fetch() {
        if (origin_) origin_->lose();
    }

    asio::awaitable<void> run() {
        if (job_.from.may_ask_peers) {
            const auto answered = co_await try_peers();
            if (answered) co_return;
        }
        co_await ask_origin();
    }

private:
    RoundTrip round_trip_to(const protocol::PeerView::Peer& peer) const {
        const auto* record = cache_.upstream.record_of(peer.node);
        return record ? record->round_trip() : RoundTrip();
    }

    /// Asks peers, and after their budget the origin beside them. True when a peer gave the answer
    /// (whole or not): there is nothing left to do. False: the origin's turn; origin_ may have an
    /// answer already.
    asio::awaitable<bool> try_peers() {
        const auto view = cache_.upstream.peers;
        if (!view || !view->directory) co_return false;
        const auto& target = job_.wanted.request->origin();
        const auto origin =
            target ? cache_.upstream.origin_times.of(place_of(*target)) : RoundTrip();
        const auto now = Clock::now();
        peers_.sample_misses(view, now);
        const auto whom = peers_.whom_to_ask(*view, origin, now);
        if (whom.count == 0) co_return false;
        origin_usual_ = origin;
        const auto nearest = round_trip_to(view->peers[whom.turns[0].peer]);
        PeerRace plan(whom, nearest, origin, *config_.cluster, can_ask_origin(), now);
        HeadRace race(cache_.upstream, job_.result.wakeup);
        for (;;) {
            auto* ended = race.take_ended();
            if (ended != nullptr) {
                const auto answered = co_await take_peer(race, *ended);
                if (answered) co_return true;
                continue;
            }
            if (origin_ && origin_->result == FetchError::none) co_return false;
            PeerRace::UnderWay open{race.peers_open()};
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
                case AskStep::ask_peer: {
                    const auto next = plan.ask(open.peers);
                    if (next.again) ++cache_.upstream.counters.peer_repeats;
                    const auto& peer = view->peers[next.turn.peer];
                    auto request = peers_.request_text(peer.token, Clock::now());
                    if (request.empty()) co_return false;
                    plan.asked(round_trip_to(peer), Clock::now());
                    auto runner = std::make_shared<PeerRunner>(cache_.upstream, view,
                                                               next.turn.peer, next.budget,
                                                               plan.latest(), next.turn.promised);
                    if (!whom.beside_the_origin) runner->alone = next.budget;
                    runner->request.note_in(job_.from.peers_asked);
                    if (!race.start(std::move(runner), std::move(request))) co_return false;
                    break;
                }
            }
        }
    }

    /// Puts the request to the origin while peers are still asked. False: not now; what that means
    /// shows when it is the origin's turn.
    bool start_origin(HeadRace& race) {
        if (!origin_) origin_ = prepare_origin(what_to_ask_now());
        const auto& request = origin_->request;
        const bool may_start =
            request.allowed() && !(request.is_probe() && has_stand_in()) && race.start(origin_);
        if (!may_start) origin_.reset();
        return may_start;
    }

    OriginRequestKind what_to_ask_now(bool only_whole = false) const {
        return what_to_ask(facts_of(job_, stale_copy_.has_value(), only_whole));
    }

    bool can_ask_origin() const { return what_to_ask_now() != OriginRequestKind::impossible; }

    /// A peer's question has ended: true when that is the answer.
    asio::awaitable<bool> take_peer(HeadRace& race, PeerRunner& runner) {
        auto& asked = runner.request;
        const auto verdict = *runner.verdict;
        auto& exchange = asked.exchange();
        const auto& head = exchange.head();
        if (verdict == PeerVerdict::stale_hit && !job_.from.stale && !stale_copy_)
            stale_copy_ = stale_copy_at(asked.peer().node, head);
        if (verdict != PeerVerdict::hit) {
            peers_.learn_from(runner, false, origin_usual_, Clock::now());
            co_return false;
        }
        auto from = exchange.received();
        from.from_peer = true;
        if (!job_.wanted.block && length_of_head_alone(head)) {
            const auto taken = take_head(asked, from);
            peers_.learn_from(runner, taken, origin_usual_, Clock::now());
            if (taken) peer_won(race, runner);
            co_return taken;
        }
        auto made = delivery_.draft(from);
        if (!peers_.is_acceptable(exchange, made, Clock::now())) {
            asked.close(PeerVerdict::unusable);
            peers_.learn_from(runner, false, origin_usual_, Clock::now());
            co_return false;
        }
        peers_.learn_from(runner, true, origin_usual_, Clock::now());
        peer_won(race, runner);
        Delivery::Sender sender{Fill::Source::peer, asked.peer().node, head.status};
        const auto faultless =
            co_await delivery_.run(exchange, from, std::move(made), std::move(sender));
        asked.close(faultless ? PeerVerdict::hit : PeerVerdict::failure);
        co_return true;
    }

    void peer_won(HeadRace& race, const PeerRunner& winner) {
        race.won_by(&winner);
        if (!origin_) return;
        origin_->lose();
        origin_.reset();
    }

    /// What a peer holds in blocks, or gives as its head alone. True when that is the answer.
    bool take_head(PeerRequest& asked, const Received& from, bool validated = false) {
        auto index = make_index(delivery_, from, *length_of_head_alone(from.head));
        const auto good =
            index && (validated || peers_.is_current(*index->draft.response, Clock::now()));
        asked.close(good ? PeerVerdict::hit : PeerVerdict::unusable);
        Delivery::Sender sender{Fill::Source::peer, asked.peer().node, validated ? 304u : 200u};
        if (good) publish(delivery_, std::move(*index), std::move(sender));
        asked.exchange().finish();
        return good;
    }

    /// The question to the origin, not sent yet. Precondition: it is not impossible.
    std::shared_ptr<OriginRunner> prepare_origin(OriginRequestKind kind) {
        asked_ = additions_for(kind, job_, stale_copy_);
        auto runner =
            std::make_shared<OriginRunner>(cache_.upstream, job_.wanted.request, has_stand_in());
        runner->lines = std::move(asked_.lines);
        runner->exchange.on_interim([run = runner.get(),
                                     fill = job_.result.fill](const Head& interim) {
            return pass_on(run->lost ? nullptr : fill.get(), run->snapshot->config().node, interim);
        });
        return runner;
    }

    /// `only_whole`: without conditions and ranges of our own, as an answer to those made no sense.
    asio::awaitable<void> ask_origin(bool only_whole = false) {
        if (only_whole) stale_copy_.reset();
        const auto kind = what_to_ask_now(only_whole);
        if (kind == OriginRequestKind::impossible) {
            delivery_.fail(why_not_ask(facts_of(job_, false, false)));
            co_return;
        }
        // Asked while peers were, it has ended; what they said meanwhile it was not told.
        const auto runner = origin_ ? std::exchange(origin_, nullptr) : prepare_origin(kind);
        runner->take();
        auto& exchange = runner->exchange;
        if (!runner->result && runner->request.is_probe() && has_stand_in()) {
            // Whether the origin is back shows behind an answer that nobody has to wait for.
            const auto& timeouts = config_.timeouts;
            job_.result.fill->keep(timeouts.origin_connect + timeouts.origin_head);
            delivery_.fail(FetchError::origin_down);
            co_await runner->run();
            co_return;
        }
        if (!runner->result) {
            const auto ended = co_await runner->run();
            runner->result = ended;
        }
        const auto asked = std::move(asked_);
        const auto meaning = meaning_of(*runner, asked);
        switch (meaning.step) {
            case OriginStep::ask_whole:
                exchange.finish();
                co_await ask_origin(true);
                co_return;
            case OriginStep::fail:
                delivery_.fail(meaning.error, status_of(*runner), meaning.unshareable,
                               exchange.malformed());
                co_return;
            case OriginStep::take_block:
                co_await take_block(delivery_, exchange);
                co_return;
            case OriginStep::renew_stored:
                exchange.finish();
                ++cache_.upstream.counters.validations;
                if (!validated(exchange, asked.stored_fields)) co_await ask_origin(true);
                co_return;
            case OriginStep::take_copy:
                exchange.finish();
                ++cache_.upstream.counters.validations;
                co_await fetch_validated(exchange);
                co_return;
            case OriginStep::begin_in_blocks:
                co_await begin_in_blocks(delivery_, exchange);
                co_return;
            case OriginStep::offer_in_blocks:
                if (auto index =
                        make_index(delivery_, exchange.received(), *exchange.content_length())) {
                    const ByteRange all{0, *exchange.content_length() - 1};
                    co_await run_in_blocks(delivery_, std::move(*index), exchange, all);
                    co_return;
                }
                break;
            case OriginStep::pass:
                break;
        }
        if (job_.from.stale) {
            const auto made = delivery_.draft(exchange.received());
            end_stored(made.verdict, made.response->status, asked.validators.any());
        }
        co_await delivery_.pass(exchange);
    }

    /// Of the answer; 0: there is none.
    static unsigned status_of(const OriginRunner& runner) {
        return *runner.result == FetchError::none ? runner.exchange.head().status : 0;
    }

    OriginMeaning meaning_of(const OriginRunner& runner, const RequestAdditions& asked) const {
        OriginResult result;
        result.error = *runner.result;
        if (result.error == FetchError::none) {
            result.head = &runner.exchange.head();
            result.length = runner.exchange.content_length();
        }
        return proxy::meaning_of(asked.kind, asked.validators, result,
                                 may_stand_in(OriginTrouble::error),
                                 slice_from(*job_.wanted.request->policy().cache));
    }

    bool may_stand_in(OriginTrouble trouble) const {
        return job_.from.stale &&
               may_serve_stale(job_.wanted.directives, job_.from.stale->freshness,
                               job_.from.stale->residence(Clock::now()), trouble,
                               job_.wanted.request->policy().rules());
    }

    /// Is something stored that may be given while the origin is unreachable?
    bool has_stand_in() const { return may_stand_in(OriginTrouble::unreachable); }

    void end_stored(StorageVerdict verdict, unsigned status, bool was_validation) {
        const auto now = Clock::now();
        const auto fresh = is_fresh(job_.from.stale->freshness, job_.from.stale->residence(now));
        const auto fate = fate_of_stored(
            {verdict, status, was_validation, fresh, tells_who_asks(job_.wanted.request->fields)});
        if (fate == StoredFate::stays) return;
        const auto hash = job_.result.claim.hash();
        if (fate == StoredFate::ends ||
            !stand_in_for_nothing(cache_.shared.store, hash, job_.result.claim.uri(),
                                  *job_.from.stale, now))
            cache_.shared.drop(hash, now);
    }

    /// `fill`: null when nobody wants this answer any more.
    static asio::awaitable<void> pass_on(Fill* fill, const std::string& node, const Head& interim) {
        if (fill == nullptr) co_return;
        std::string text;
        append_interim(text, interim, node);
        fill->interim(text);
    }

    /// The stored response is good again, with the fields of the 304 (RFC 9111 §4.3.4). False: its
    /// head would grow beyond limits.head, so the whole response has to be fetched.
    bool validated(const Exchange& exchange, Fields stored) {
        auto fresh = refreshed(delivery_.storing(), *job_.from.stale, stored, exchange.received());
        if (fresh.too_large) return false;
        auto& verdict = fresh.draft.verdict;
        end_stored(verdict, 304, true);
        if (verdict == StorageVerdict::store && !delivery_.charge(*fresh.draft.response))
            verdict = StorageVerdict::no_room;
        delivery_.give(std::move(fresh.draft), std::move(fresh.live), true,
                       {Fill::Source::origin, {}, 304, exchange.server()});
        return true;
    }

    /// What a peer holds is good again by the origin's word: its body, with the fields of the 304.
    asio::awaitable<void> fetch_validated(Exchange& not_modified) {
        const auto view = cache_.upstream.peers;
        const auto copy = *std::exchange(stale_copy_, std::nullopt);
        const auto named = view ? peers_named({copy.peer}, *view) : summary::PeerSet();
        if (!named.empty() && view->peers[*named.begin()].can_be_asked()) {
            const auto at = *named.begin();
            const auto& peer = view->peers[at];
            // The origin has had its say: there is nobody to ask meanwhile.
            const auto latest = std::max<std::chrono::nanoseconds>(config_.cluster->peer_budget_max,
                                                                   config_.cluster->peer_budget);
            PeerRequest asked(cache_.upstream, view, at, latest, latest);
            asked.note_in(job_.from.peers_asked);
            auto request = peers_.request_text(peer.token, Clock::now(), kStaleToo);
            const auto verdict = co_await asked.send(std::move(request), true);
            auto& exchange = asked.exchange();
            const auto& given = exchange.head();
            const auto head_alone = length_of_head_alone(given).has_value();
            const auto validation = not_modified.received();
            const UpdatedFields updated(given.fields, validation);
            if (verdict == PeerVerdict::hit && is_that_copy(copy, given, head_alone) &&
                updated.fit(config_.limits)) {
                Head merged = given;
                merged.fields = updated.merged();
                // The body is the peer's, but what is said of it was said to this client.
                const Received from{
                    merged, validation.request_time, validation.arrival, updated.own_lines(),
                    false,  validation.took};
                if (head_alone) {
                    if (take_head(asked, from, true)) co_return;
                    co_return co_await ask_origin();
                }
                auto made = delivery_.draft(from);
                Delivery::Sender sender{Fill::Source::peer, peer.node, 304, not_modified.server()};
                const auto faultless =
                    co_await delivery_.run(exchange, from, std::move(made), std::move(sender));
                asked.close(faultless ? PeerVerdict::hit : PeerVerdict::failure);
                co_return;
            }
            asked.close(PeerVerdict::unusable);  // unless it has ended in another way
        }
        co_await ask_origin();  // whole, as the copy is gone
    }

    Cache& cache_;
    const Config& config_;
    FetchJob& job_;
    Delivery delivery_;
    FetchPeers peers_;
    RoundTrip origin_usual_;  // while peers are asked
    std::optional<StaleCopy> stale_copy_;
    RequestAdditions asked_;                // by origin_
    std::shared_ptr<OriginRunner> origin_;  // prepared, or asked beside peers
};

asio::awaitable<void> fetch(Cache& cache, std::unique_ptr<FetchJob> job) {
    const FetchLeash leash(cache.upstream.wheel, *job);
    Fetch running(cache, *job);
    co_await running.run();
}

}  // namespace

void start_fetch(Cache& cache, std::unique_ptr<FetchJob> job) {
    const auto fill = job->result.fill;
    auto& stop = job->progress.stop;
    {
        auto task = fetch(cache, std::move(job));
        if (cache.upstream.fetches.spawn(std::move(task), stop)) return;
    }  // the claim first: nobody new joins a fill that has failed
    fill->fail(FetchError::stopping);
}

}  // namespace proxy
