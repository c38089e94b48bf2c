#include "proxy/forwarding/fetch.hpp"

#include <algorithm>
#include <bit>
#include <span>

#include "proxy/forwarding/block_index.hpp"
#include "proxy/forwarding/delivery.hpp"
#include "proxy/forwarding/fetch_leash.hpp"
#include "proxy/forwarding/interim.hpp"
#include "proxy/forwarding/origin_question.hpp"
#include "proxy/forwarding/peer_question.hpp"
#include "proxy/forwarding/peer_request.hpp"
#include "proxy/forwarding/response_head.hpp"
#include "proxy/http/field_list.hpp"
#include "proxy/http/merge_304.hpp"
#include "proxy/http/request_policy.hpp"
#include "proxy/http/validators.hpp"
#include "summary/directory.hpp"

namespace proxy {
namespace {

namespace asio = boost::asio;
using boost::beast::http::field;
using Clock = std::chrono::steady_clock;

/// An age is the sum of two times that are each less than a second too short.
constexpr std::chrono::seconds kAgeGranularity{2};

const std::string kStaleToo(" stale"), kPart(" part");

/// The life of one fetch: where its answer comes from.
class Fetch {
public:
    Fetch(Worker& worker, FetchJob& job)
        : worker_(worker), config_(*job.config), job_(job), delivery_(worker, job) {}
    Fetch(const Fetch&) = delete;
    Fetch& operator=(const Fetch&) = delete;

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

    /// True when a peer gave the answer (whole or not): there is nothing left to do.
    asio::awaitable<bool> try_peers() {
        const auto view = worker_.peers;
        if (!view || !view->directory) co_return false;
        const auto promised = view->directory->candidates(job_.hash);
        // Who holds the target may hold it in one piece, and this block with it.
        const auto perhaps = may_hold_it_whole(*view) & ~promised;
        if ((promised | perhaps) == 0) co_return false;
        // Peers may not have heard of an invalidation yet; none can show that a copy is younger.
        if (invalidated_within(kAgeGranularity)) co_return false;
        const auto choice = choose_peers(promised, worker_.peer_records, Clock::now());
        for (std::size_t i = 0; i < choice.count; ++i) {
            const auto answered = co_await ask_peer(*view, choice.peers[i], true);
            if (answered) co_return true;
        }
        if (choice.count == kMaxPeersAsked) co_return false;
        const auto other = choose_peers(perhaps, worker_.peer_records, Clock::now());
        if (other.count == 0) co_return false;
        const auto answered = co_await ask_peer(*view, other.peers[0], false);
        if (!answered && job_.block->in_parts)
            job_.block->in_parts->push_back(view->peers[other.peers[0]].node);
        co_return answered;
    }

    std::uint64_t may_hold_it_whole(const protocol::PeerView& view) const {
        if (!job_.block) return 0;
        const auto& block = *job_.block;
        const auto candidates = view.directory->candidates(block.target);
        return block.in_parts ? candidates & ~peers_named(*block.in_parts, view) : candidates;
    }

    /// Empty: no peer can be asked.
    std::string question(std::string token) {
        if (!peer_request_)
            peer_request_.emplace(*job_.request, job_.directives, worker_.shared.field_key);
        if (!peer_request_->possible()) return {};
        std::string lines;
        if (job_.block) append_block_request(lines);
        if (job_.part) token += kPart;
        return peer_request_->text(config_.node, token, max_age(), lines);
    }

    void append_block_request(std::string& out) const {
        const auto& block = *job_.block;
        append_range_request(out, block.range.first, block.range.last, block.etag);
    }

    /// `promised`: its summary has the very key.
    asio::awaitable<bool> ask_peer(const protocol::PeerView& view, std::size_t index,
                                   bool promised) {
        const auto& peer = view.peers[index];
        if (!peer.in_step || peer.token.empty()) co_return false;
        auto request = question(peer.token);
        if (request.empty()) co_return false;
        PeerQuestion asked(worker_, config_, peer);
        const auto verdict = co_await asked.ask(std::move(request), promised);
        auto& exchange = asked.exchange();
        const auto& head = exchange.head();
        if (verdict == PeerVerdict::stale_hit && !job_.stale && !stale_copy_) {
            const auto known = validators_of(head.fields);
            if (known.any())
                stale_copy_ = {peer.node, std::string(known.etag),
                               std::string(known.last_modified)};
        }
        if (verdict != PeerVerdict::hit) co_return false;
        auto from = received(exchange);
        from.from_peer = true;
        if (!job_.block && length_of_head_alone(head)) {
            const auto taken = take_head(asked, from);
            co_return taken;
        }
        auto made = delivery_.draft(from);
        if (!acceptable_from_peer(exchange, made) || (!job_.block && is_outdated(made))) {
            asked.close(PeerVerdict::unusable);
            co_return false;
        }
        Delivery::Sender sender{Fill::Source::peer, peer.node, head.status};
        const auto faultless =
            co_await delivery_.run(exchange, from, std::move(made), std::move(sender));
        asked.close(faultless ? PeerVerdict::hit : PeerVerdict::failure);
        co_return true;
    }

    /// What a peer holds in blocks, or gives as its head alone. True when that is the answer.
    bool take_head(PeerQuestion& asked, const Received& from, bool validated = false) {
        auto index = make_index(delivery_, job_, from, *length_of_head_alone(from.head));
        const auto good =
            index && (validated || (may_reuse(index->draft) && !is_outdated(index->draft)));
        asked.close(good ? PeerVerdict::hit : PeerVerdict::unusable);
        Delivery::Sender sender{Fill::Source::peer, asked.peer().node, validated ? 304u : 200u};
        if (good) publish(delivery_, std::move(*index), std::move(sender));
        asked.exchange().finish();
        return good;
    }

    bool may_reuse(const Draft& made) const {
        return usable(
            decide_reuse(job_.directives, made.response->freshness, std::chrono::seconds(0)));
    }
    /// Made before the last invalidation of what is wanted, or of one of its tags.
    bool is_outdated(const Draft& made) const {
        return invalidated_within(greatest_age(made), made.response->tags);
    }

    /// A peer may only give what this cache may reuse without validation.
    bool acceptable_from_peer(const Exchange& exchange, const Draft& made) const {
        const auto& head = exchange.head();
        if (job_.block)  // which ends where its range does, or it cannot go on elsewhere
            return is_wanted(*job_.block, head) &&
                   exchange.content_length() == job_.block->range.size();
        if (head.status < 200) return false;
        switch (made.verdict) {
            case StorageVerdict::store:
            case StorageVerdict::authorization:  // of this request
            case StorageVerdict::not_reusable:   // a client may want it stale
                return may_reuse(made);
            default:
                return false;  // no node stores that, so none has it to give
        }
    }

    /// Was what is wanted, or something with one of these tags, invalidated so short a time ago?
    bool invalidated_within(std::chrono::seconds time,
                            std::span<const summary::KeyHash> tags = {}) const {
        const auto& store = worker_.shared.store;
        auto at = store.invalidated_at(job_.hash, tags);
        if (job_.block) at = std::max(at, store.invalidated_at(job_.block->target));
        return at && Clock::now() - *at < time;
    }

    /// How old a copy may say it is. The peer obeys if it is so configured, and saves a body.
    std::optional<std::chrono::seconds> max_age() const {
        const auto at = worker_.shared.store.invalidated_at(job_.hash);
        if (!at || job_.block) return std::nullopt;
        const auto since = std::chrono::floor<std::chrono::seconds>(Clock::now() - *at);
        return std::max(since - kAgeGranularity, std::chrono::seconds(0));
    }

    /// The copy that has arrived was made at most so long ago.
    static std::chrono::seconds greatest_age(const Draft& made) {
        return std::chrono::seconds(made.response->freshness.initial_age) + kAgeGranularity;
    }

    /// `whole`: without conditions and ranges of our own, as an answer to those made no sense.
    asio::awaitable<void> ask_origin(bool whole = false) {
        if (job_.part && job_.part->form == RangeRequest::Form::suffix) {
            delivery_.fail(FetchError::not_in_parts);  // which block that is, peers might know
            co_return;
        }
        std::vector<Field> stored_fields;
        Validators validators;
        std::string lines;
        auto ranged = false;
        if (job_.block) {
            append_block_request(lines);
        } else if (whole) {
            stale_copy_.reset();
        } else if (job_.stale) {
            stored_fields = job_.stale->fields();
            validators = validators_of(stored_fields);
            append_validation(lines, validators);
        } else if (stale_copy_) {
            validators = stale_copy_->validators();
            append_validation(lines, validators);
        } else if (job_.part) {
            const auto range = Blocks::aligned(job_.part->first, config_.cache.block);
            append_range_request(lines, range.first, range.last, {});
            ranged = true;
        }
        Exchange exchange(worker_.pool, worker_.head_limits());
        exchange.on_interim([this](const Head& interim) { return pass_on(interim); });
        const auto* target = std::get_if<UpstreamTarget>(&job_.route);
        if (target == nullptr) {
            delivery_.fail(FetchError::not_allowed);
            co_return;
        }
        const auto stand_in = has_stand_in();
        OriginQuestion asked(worker_, *target, stand_in);
        if (asked.is_probe() && stand_in) {
            // Whether the origin is back shows behind an answer that nobody has to wait for.
            const auto& timeouts = config_.timeouts;
            job_.fill->keep(timeouts.origin_connect + timeouts.origin_head);
            delivery_.fail(FetchError::origin_down);
            co_await proxy::ask_origin(job_, lines, exchange, asked);
            co_return;
        }
        const auto error = co_await proxy::ask_origin(job_, lines, exchange, asked);
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
            ++worker_.counters.validations;
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
            co_await begin_in_blocks(worker_, job_, delivery_, exchange);
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
            worker_.shared.store.invalidate(job_.hash, now);
    }

    asio::awaitable<void> pass_on(const Head& interim) {
        std::string text;
        append_interim(text, interim, config_.node);
        job_.fill->interim(text);
        co_return;
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
        const auto view = worker_.peers;
        const auto copy = *std::exchange(stale_copy_, std::nullopt);
        const auto index = view ? peers_named({copy.peer}, *view) : 0;
        if (index != 0 && !view->peers[std::countr_zero(index)].token.empty()) {
            const auto& peer = view->peers[std::countr_zero(index)];
            PeerQuestion asked(worker_, config_, peer);
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
                const Received from{merged, validation.request_time, validation.response_time,
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
        }
        co_await ask_origin();  // whole, as the copy is gone
    }

    Worker& worker_;
    const Config& config_;
    FetchJob& job_;
    Delivery delivery_;
    std::optional<StaleCopy> stale_copy_;
    std::optional<PeerRequest> peer_request_;  // once a peer is asked
};

asio::awaitable<void> fetch(Worker& worker, std::unique_ptr<FetchJob> job) {
    const FetchLeash leash(worker.wheel, *job);
    Fetch running(worker, *job);
    co_await running.run();
}

}  // namespace

FetchJob::FetchJob(Worker& worker, std::shared_ptr<const RequestSnapshot> asked,
                   std::shared_ptr<const Config> rules)
    : request(std::move(asked)),
      config(std::move(rules)),
      uri(request->key.uri()),
      wakeup(std::make_shared<Wakeup>(worker.io.get_executor())),
      fill(std::make_shared<Fill>(wakeup, config->limits.body_window)) {}

void start_fetch(Worker& worker, std::unique_ptr<FetchJob> job) {
    const auto fill = job->fill;
    const auto hash = job->hash;
    auto& stop = job->stop;
    auto task = fetch(worker, std::move(job));
    if (worker.fetches.spawn(std::move(task), stop)) return;
    worker.shared.store.abandon(hash, fill.get(), false, Clock::now());
    fill->fail(FetchError::stopping);
}

}  // namespace proxy
