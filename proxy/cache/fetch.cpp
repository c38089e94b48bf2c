#include "proxy/cache/fetch.hpp"

#include <algorithm>
#include <span>

#include "proxy/cache/block_index.hpp"
#include "proxy/cache/delivery.hpp"
#include "proxy/cache/fetch_leash.hpp"
#include "proxy/cache/peer_copy.hpp"
#include "proxy/http/field_list.hpp"
#include "proxy/http/interim.hpp"
#include "proxy/http/merge_304.hpp"
#include "proxy/http/request_policy.hpp"
#include "proxy/http/response_head.hpp"
#include "proxy/http/validators.hpp"
#include "proxy/upstream/ask_budget.hpp"
#include "proxy/upstream/head_race.hpp"
#include "proxy/upstream/peer_request.hpp"

namespace proxy {
namespace {

namespace asio = boost::asio;
using boost::beast::http::field;
using Clock = std::chrono::steady_clock;

const std::string kStaleToo(" stale"), kPart(" part");

/// The life of one fetch: where its answer comes from.
class Fetch {
public:
    Fetch(Cache& cache, FetchJob& job)
        : cache_(cache), config_(*job.config), job_(job), delivery_(cache, job) {}
    Fetch(const Fetch&) = delete;
    Fetch& operator=(const Fetch&) = delete;
    ~Fetch() {
        if (origin_) origin_->lose();
    }

    asio::awaitable<void> run() {
        if (job_.may_ask_peers) {
            const auto answered = co_await try_peers();
            if (answered) co_return;
        }
        co_await ask_origin();
    }

private:
    /// A copy that a peer holds and may not give as it is: the origin may say that it is still
    /// good.
    struct StaleCopy {
        std::string peer, etag, last_modified;
        Validators validators() const { return {etag, last_modified, {}}; }
    };

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
        const auto* target = std::get_if<UpstreamTarget>(&job_.route);
        const auto origin =
            target ? cache_.upstream.origin_times.of(place_of(*target)) : RoundTrip();
        const auto asked = whom_to_ask(cache_, job_, *view, origin);
        if (asked.count == 0) co_return false;
        const auto& bounds = *config_.cluster;
        const auto nearest = round_trip_to(view->peers[asked.turns[0].peer]);
        const auto budget = asked.beside_the_origin ? std::chrono::nanoseconds(0)
                                                    : peer_budget(nearest, origin, bounds);
        const auto latest = budget + kLatestHead;
        HeadRace race(cache_.upstream, job_.wakeup);
        std::size_t sent = 0, next = 0;
        AskState state{};
        state.origin_at = can_ask_origin() ? Clock::now() + budget : AskState::Time::max();
        for (;;) {
            auto* ended = race.take_ended();
            if (ended != nullptr) {
                const auto answered = co_await take_peer(race, *ended);
                if (answered) co_return true;
                continue;
            }
            if (origin_ && origin_->result == FetchError::none) co_return false;
            state.open = race.peers_open();
            state.origin_asked = origin_ && origin_->under_way;
            state.origin_ended = state.origin_asked && origin_->result;
            state.left = static_cast<unsigned>(asked.count - next);
            // One that is promised may be asked again, on another connection.
            if (state.open > 0 && state.left == 0 && asked.turns[0].promised &&
                !asked.beside_the_origin)
                state.left = static_cast<unsigned>(kMaxPeersAsked - sent);
            const auto step = next_step(state, Clock::now());
            switch (step.step) {
                case AskStep::no_peers:
                    co_return false;
                case AskStep::wait:
                    co_await job_.wakeup->wait_until(step.at);
                    break;
                case AskStep::ask_origin:
                    if (!start_origin(race)) state.origin_at = AskState::Time::max();
                    break;
                case AskStep::ask_peer: {
                    if (state.open > 0) ++cache_.upstream.counters.peer_repeats;
                    const auto& turn = asked.turns[next < asked.count ? next++ : 0];
                    const auto& peer = view->peers[turn.peer];
                    auto request = question(peer.token);
                    if (request.empty()) co_return false;
                    const auto known = round_trip_to(peer);
                    const auto patience = patience_with(known);
                    const auto now = Clock::now();
                    state.next_at = patience < budget ? now + patience : AskState::Time::max();
                    ++sent;
                    auto runner = std::make_shared<PeerRunner>(
                        cache_.upstream, view, turn.peer, asked.beside_the_origin ? latest : budget,
                        latest, turn.promised);
                    if (!race.start(std::move(runner), std::move(request))) co_return false;
                    break;
                }
            }
        }
    }

    /// Puts the request to the origin while peers are still asked. False: not now; what that means
    /// shows when it is the origin's turn.
    bool start_origin(HeadRace& race) {
        if (!origin_) origin_ = prepare_origin(false);
        const auto& question = origin_->question;
        const bool may_start =
            question.allowed() && !(question.is_probe() && has_stand_in()) && race.start(origin_);
        if (!may_start) {
            origin_.reset();
            return false;
        }
        ++cache_.upstream.counters.origin_hedges;
        return true;
    }

    bool can_ask_origin() const {
        return std::holds_alternative<UpstreamTarget>(job_.route) &&
               !(job_.part && job_.part->form == RangeRequest::Form::suffix);
    }

    /// Empty: no peer can be asked.
    std::string question(std::string token) {
        if (!peer_request_)
            peer_request_.emplace(*job_.request, job_.directives, cache_.shared.field_key);
        if (!peer_request_->possible()) return {};
        std::string lines;
        if (job_.block) append_block_request(lines);
        if (job_.part) token += kPart;
        return peer_request_->text(config_.node, token, wanted_max_age(cache_, job_), lines);
    }

    void append_block_request(std::string& out) const {
        const auto& block = *job_.block;
        append_range_request(out, block.range.first, block.range.last, block.etag);
    }

    /// A peer's question has ended: true when that is the answer.
    asio::awaitable<bool> take_peer(HeadRace& race, PeerRunner& runner) {
        auto& asked = runner.question;
        const auto verdict = *runner.verdict;
        auto& exchange = asked.exchange();
        const auto& head = exchange.head();
        if (verdict == PeerVerdict::stale_hit && !job_.stale && !stale_copy_) {
            const auto known = validators_of(head.fields);
            if (known.any())
                stale_copy_ = {asked.peer().node, std::string(known.etag),
                               std::string(known.last_modified)};
        }
        if (verdict != PeerVerdict::hit) {
            is_in_parts_at(runner);
            co_return false;
        }
        auto from = received(exchange);
        from.from_peer = true;
        if (!job_.block && length_of_head_alone(head)) {
            const auto taken = take_head(asked, from);
            if (taken) peer_won(race, runner);
            co_return taken;
        }
        auto made = delivery_.draft(from);
        if (!is_acceptable_copy(cache_, job_, exchange, made)) {
            asked.close(PeerVerdict::unusable);
            is_in_parts_at(runner);
            co_return false;
        }
        peer_won(race, runner);
        Delivery::Sender sender{Fill::Source::peer, asked.peer().node, head.status};
        const auto faultless =
            co_await delivery_.run(exchange, from, std::move(made), std::move(sender));
        asked.close(faultless ? PeerVerdict::hit : PeerVerdict::failure);
        co_return true;
    }

    void is_in_parts_at(const PeerRunner& runner) {
        if (!runner.promised && job_.block->in_parts)
            job_.block->in_parts->push_back(runner.question.peer().node);
    }

    void peer_won(HeadRace& race, const PeerRunner& winner) {
        race.won_by(&winner);
        if (!origin_) return;
        if (origin_->under_way) ++cache_.upstream.counters.origin_hedges_outrun;
        origin_->lose();
        origin_.reset();
    }

    /// What a peer holds in blocks, or gives as its head alone. True when that is the answer.
    bool take_head(PeerQuestion& asked, const Received& from, bool validated = false) {
        auto index = make_index(delivery_, job_, from, *length_of_head_alone(from.head));
        const auto good = index && (validated || is_current_copy(cache_, job_, index->draft));
        asked.close(good ? PeerVerdict::hit : PeerVerdict::unusable);
        Delivery::Sender sender{Fill::Source::peer, asked.peer().node, validated ? 304u : 200u};
        if (good) publish(delivery_, std::move(*index), std::move(sender));
        asked.exchange().finish();
        return good;
    }

    /// The question to the origin, not sent yet. `whole`: without conditions and ranges of our own,
    /// as an answer to those made no sense. Precondition: can_ask_origin().
    std::shared_ptr<OriginRunner> prepare_origin(bool whole) {
        plan_ = {};
        std::string lines;
        if (job_.block) {
            append_block_request(lines);
        } else if (whole) {
            stale_copy_.reset();
        } else if (job_.stale) {
            plan_.stored_fields = job_.stale->fields();
            plan_.validators = validators_of(plan_.stored_fields);
            append_validation(lines, plan_.validators);
        } else if (stale_copy_) {
            plan_.validators = stale_copy_->validators();
            append_validation(lines, plan_.validators);
        } else if (job_.part) {
            const auto range = Blocks::aligned(job_.part->first, config_.cache.block);
            append_range_request(lines, range.first, range.last, {});
            plan_.ranged = true;
        }
        auto runner =
            std::make_shared<OriginRunner>(cache_.upstream, job_.config, job_.request,
                                           std::get<UpstreamTarget>(job_.route), has_stand_in());
        runner->lines = std::move(lines);
        runner->exchange.on_interim(
            [run = runner.get(), fill = job_.fill, config = job_.config](const Head& interim) {
                return pass_on(run->lost ? nullptr : fill.get(), config->node, interim);
            });
        return runner;
    }

    asio::awaitable<void> ask_origin(bool whole = false) {
        if (job_.part && job_.part->form == RangeRequest::Form::suffix) {
            delivery_.fail(FetchError::not_in_parts);  // which block that is, peers might know
            co_return;
        }
        if (!std::holds_alternative<UpstreamTarget>(job_.route)) {
            delivery_.fail(FetchError::not_allowed);
            co_return;
        }
        // Asked while peers were, it has ended; what they said meanwhile it was not told.
        const auto runner = origin_ ? std::exchange(origin_, nullptr) : prepare_origin(whole);
        auto& exchange = runner->exchange;
        if (!runner->result && runner->question.is_probe() && has_stand_in()) {
            // Whether the origin is back shows behind an answer that nobody has to wait for.
            const auto& timeouts = config_.timeouts;
            job_.fill->keep(timeouts.origin_connect + timeouts.origin_head);
            delivery_.fail(FetchError::origin_down);
            co_await runner->run();
            co_return;
        }
        if (!runner->result) {
            const auto ended = co_await runner->run();
            runner->result = ended;
        }
        const auto error = *runner->result;
        const auto plan = std::exchange(plan_, {});
        const auto& stored_fields = plan.stored_fields;
        const auto& validators = plan.validators;
        const auto ranged = plan.ranged;
        const auto& head = exchange.head();
        // Whatever goes wrong with a validation is not the client's business: it asked for a page.
        const auto nonsense =
            error == FetchError::none ? !answers(head, validators) : error == FetchError::malformed;
        if (validators.any() && nonsense) {
            exchange.finish();
            co_await ask_origin(true);
            co_return;
        }
        if (error != FetchError::none) {
            delivery_.fail(error, 0, false, exchange.malformed());
            co_return;
        }
        if (job_.block) {
            co_await take_block(delivery_, *job_.block, exchange);
            co_return;
        }
        // Our range was not the client's own, nor is what the origin makes of it.
        if (ranged && (head.status == 304 || head.status == 412 || head.status == 416)) {
            delivery_.fail(FetchError::not_in_parts, head.status, true);
            co_return;
        }
        if (head.status == 304) {
            if (!validators.any()) {  // nothing was asked that a 304 could answer
                delivery_.fail(FetchError::malformed, head.status);
                co_return;
            }
            exchange.finish();
            ++cache_.upstream.counters.validations;
            if (job_.stale)
                validated(exchange, stored_fields);
            else
                co_await fetch_validated(exchange);
            co_return;
        }
        if (job_.stale && is_origin_trouble(head.status) &&
            may_serve_stale(job_.directives, job_.stale->freshness,
                            job_.stale->residence(Clock::now()), OriginTrouble::error,
                            config_.cache.rules)) {
            delivery_.fail(FetchError::origin_error, head.status);
            co_return;
        }
        if (head.status == 206 && ranged) {
            co_await begin_in_blocks(cache_, job_, delivery_, exchange);
            co_return;
        }
        if (auto index = large_index(delivery_, job_, exchange)) {
            // What is left of this exchange is of no use.
            publish(delivery_, std::move(*index), {Fill::Source::origin, {}, head.status});
            co_return;
        }
        if (job_.stale) {
            const auto made = delivery_.draft(received(exchange));
            end_stored(made.verdict, head.status, validators.any());
        }
        co_await delivery_.pass(exchange);
    }

    /// Is something stored that may be given while the origin is unreachable?
    bool has_stand_in() const {
        return job_.stale && may_serve_stale(job_.directives, job_.stale->freshness,
                                             job_.stale->residence(Clock::now()),
                                             OriginTrouble::unreachable, config_.cache.rules);
    }

    /// Can this head answer a request that validates, and asks for no range (RFC 9111 §4.3.3)?
    static bool answers(const Head& head, const Validators& validators) {
        if (head.status == 304) return applies_to(head.fields, validators);
        return head.status != 206 && head.status != 412 && head.status != 416;
    }

    /// What the origin does not want stored any more goes, lest it stand in for what it says now.
    /// Without a validation what is still fresh stays: a new answer alone says nothing of it.
    void end_stored(StorageVerdict verdict, unsigned status, bool validated) {
        if (!ends_stored(verdict, status)) return;
        const auto now = Clock::now();
        if (validated || !is_fresh(job_.stale->freshness, job_.stale->residence(now)))
            cache_.shared.store.invalidate(job_.claim.hash(), now);
    }

    /// `fill`: null when nobody wants this answer any more.
    static asio::awaitable<void> pass_on(Fill* fill, const std::string& node, const Head& interim) {
        if (fill == nullptr) co_return;
        std::string text;
        append_interim(text, interim, node);
        fill->interim(text);
    }

    /// The stored response is good again, with the fields of the 304 (RFC 9111 §4.3.4).
    void validated(const Exchange& exchange, Fields stored) {
        auto fresh = refreshed(delivery_.storing(), *job_.stale, stored, received(exchange));
        auto& verdict = fresh.draft.verdict;
        end_stored(verdict, 304, true);
        if (verdict == StorageVerdict::store && !delivery_.charge(*fresh.draft.response))
            verdict = StorageVerdict::no_room;
        delivery_.give(std::move(fresh.draft), std::move(fresh.live), true,
                       {Fill::Source::origin, {}, 304});
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
            PeerQuestion asked(cache_.upstream, view, at, latest, latest);
            auto request = question(peer.token + kStaleToo);
            const auto verdict = co_await asked.ask(std::move(request), true);
            auto& exchange = asked.exchange();
            const auto& given = exchange.head();
            const auto held = validators_of(given.fields);
            const auto head_alone = length_of_head_alone(given).has_value();
            if (verdict == PeerVerdict::hit && (given.status == 200 || head_alone) &&
                held.etag == copy.etag && held.last_modified == copy.last_modified) {
                const auto validation = received(not_modified);
                const UpdatedFields updated(given.fields, validation);
                Head merged = given;
                merged.fields = updated.merged();
                const Received from{merged, validation.request_time, validation.arrival,
                                    updated.own_lines(), true};
                if (head_alone) {
                    if (take_head(asked, from, true)) co_return;
                    co_return co_await ask_origin();
                }
                auto made = delivery_.draft(from);
                Delivery::Sender sender{Fill::Source::peer, peer.node, 304};
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
    /// What the origin's answer can mean.
    struct OriginPlan {
        std::vector<Field> stored_fields;
        Validators validators;
        bool ranged = false;  // a range that the client did not ask for
    };

    std::optional<StaleCopy> stale_copy_;
    OriginPlan plan_;                          // of origin_
    std::shared_ptr<OriginRunner> origin_;     // prepared, or asked beside peers
    std::optional<PeerRequest> peer_request_;  // once a peer is asked
};

asio::awaitable<void> fetch(Cache& cache, std::unique_ptr<FetchJob> job) {
    const FetchLeash leash(cache.upstream.wheel, *job);
    Fetch running(cache, *job);
    co_await running.run();
}

}  // namespace

void start_fetch(Cache& cache, std::unique_ptr<FetchJob> job) {
    const auto fill = job->fill;
    auto& stop = job->stop;
    {
        auto task = fetch(cache, std::move(job));
        if (cache.upstream.fetches.spawn(std::move(task), stop)) return;
    }  // the claim first: nobody new joins a fill that has failed
    fill->fail(FetchError::stopping);
}

}  // namespace proxy
