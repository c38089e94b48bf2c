#include "proxy/forwarding/fetch.hpp"

#include <algorithm>
#include <span>

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

const std::string kStaleToo(" stale");

bool accepts_ranges(Fields response) {
    FieldMembers units(response, field::accept_ranges);
    while (const auto unit = units.next())
        if (iequals(*unit, "bytes")) return true;
    return false;
}

bool is_wanted(const FetchJob::Block& wanted, const Head& head) {
    const auto range = content_range(head.fields);
    return head.status == 206 && range && range->range == wanted.range &&
           range->length == wanted.length && validators_of(head.fields).etag == wanted.etag;
}

/// Is this the part that was asked for, as far as the body reaches?
bool is_wanted(const RangeRequest& part, const ContentRange& given) {
    if (!given.range || given.range->first != part.first) return false;
    const auto to_the_end = given.length && given.range->last + 1 == *given.length;
    if (part.form == RangeRequest::Form::open) return to_the_end;
    return given.range->last == part.last || (to_the_end && part.last > given.range->last);
}

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
        std::size_t peer = 0;
        std::string etag, last_modified;
        Validators validators() const { return {etag, last_modified, {}}; }
    };
    /// The object that stands for a body in blocks.
    struct Index {
        Draft draft;
        std::shared_ptr<LiveFields> live;
    };

    /// True when a peer gave the answer (whole or not): there is nothing left to do.
    asio::awaitable<bool> try_peers() {
        const auto view = worker_.peers;
        if (!view || !view->directory) co_return false;
        const auto candidates = view->directory->candidates(job_.hash);
        if (candidates == 0) co_return false;
        // Peers may not have heard of an invalidation yet; none can show that a copy is younger.
        if (invalidated_within(kAgeGranularity)) co_return false;
        const auto choice = choose_peers(candidates, worker_.peer_records, Clock::now());
        for (std::size_t i = 0; i < choice.count; ++i) {
            const auto answered = co_await ask_peer(*view, choice.peers[i]);
            if (answered) co_return true;
        }
        co_return false;
    }

    /// Empty: no peer can be asked.
    std::string question(std::string_view token) {
        if (!peer_request_)
            peer_request_.emplace(*job_.request, job_.directives, worker_.shared.field_key);
        if (!peer_request_->possible()) return {};
        std::string lines;
        if (job_.block) append_block_request(lines);
        return peer_request_->text(config_.node, token, max_age(), lines);
    }

    void append_block_request(std::string& out) const {
        const auto& block = *job_.block;
        append_range_request(out, block.range.first, block.range.last, block.etag);
    }

    asio::awaitable<bool> ask_peer(const protocol::PeerView& view, std::size_t index) {
        const auto& peer = view.peers[index];
        if (!peer.in_step || peer.token.empty()) co_return false;
        auto request = question(peer.token);
        if (request.empty()) co_return false;
        PeerQuestion asked(worker_, config_, peer);
        const auto verdict = co_await asked.ask(std::move(request));
        auto& exchange = asked.exchange();
        const auto& head = exchange.head();
        if (verdict == PeerVerdict::stale_hit && !job_.stale && !stale_copy_) {
            const auto known = validators_of(head.fields);
            if (known.any())
                stale_copy_ = {index, std::string(known.etag), std::string(known.last_modified)};
        }
        if (verdict != PeerVerdict::hit) co_return false;
        auto from = received(exchange);
        from.from_peer = true;
        auto made = delivery_.draft(from);
        if (!acceptable_from_peer(head, made)) co_return false;
        if (!job_.block && invalidated_within(greatest_age(made), made.response->tags)) {
            asked.close(PeerVerdict::stale_hit);
            co_return false;
        }
        Delivery::Sender sender{Fill::Source::peer, peer.node, head.status};
        const auto faultless =
            co_await delivery_.run(exchange, from, std::move(made), std::move(sender));
        asked.close(faultless ? PeerVerdict::hit : PeerVerdict::failure);
        co_return true;
    }

    /// A peer may only give what this cache may reuse without validation.
    bool acceptable_from_peer(const Head& head, const Draft& made) const {
        if (job_.block) return is_wanted(*job_.block, head);
        if (head.status < 200 || head.status == 206 || head.status == 304) return false;
        if (made.verdict == StorageVerdict::set_cookie) return false;  // replayed, not ours to pass
        return usable(
            decide_reuse(job_.directives, made.response->freshness, std::chrono::seconds(0)));
    }

    /// Was what is wanted, or something with one of these tags, invalidated so short a time ago?
    bool invalidated_within(std::chrono::seconds time,
                            std::span<const summary::KeyHash> tags = {}) const {
        const auto at = worker_.shared.store.invalidated_at(job_.hash, tags);
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
        OriginQuestion asked(worker_, *target);
        if (asked.is_probe() && has_stand_in()) {
            // Whether the origin is back shows behind an answer that nobody has to wait for.
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
            co_await begin_in_blocks(exchange);
            co_return;
        }
        if (auto index = large_index(exchange)) {
            publish(std::move(*index), head.status);  // what is left of this exchange is of no use
            co_return;
        }
        if (job_.stale) {
            const auto made = delivery_.draft(received(exchange));
            end_stored(made.verdict, head.status, validators.any());
        }
        co_await pass(exchange);
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

    /// The origin's answer as it is.
    asio::awaitable<void> pass(Exchange& exchange) { co_await pass(delivery_, exchange); }
    static asio::awaitable<void> pass(Delivery& delivery, Exchange& exchange) {
        const auto from = received(exchange);
        auto made = delivery.draft(from);
        Delivery::Sender sender{Fill::Source::origin, {}, from.head.status};
        co_await delivery.run(exchange, from, std::move(made), std::move(sender));
    }

    /// The stored response is good again, with the fields of the 304 (RFC 9111 §4.3.4).
    void validated(const Exchange& exchange, Fields stored) {
        auto fresh = refreshed(delivery_.storing(), *job_.stale, stored, received(exchange));
        auto& verdict = fresh.draft.verdict;
        end_stored(verdict, 304, true);
        if (verdict == StorageVerdict::store && !delivery_.charge(*fresh.draft.response))
            verdict = StorageVerdict::no_room;
        delivery_.give(std::move(fresh.draft), std::move(fresh.live), true, 304);
    }

    /// What a peer holds is good again by the origin's word: its body, with the fields of the 304.
    asio::awaitable<void> fetch_validated(Exchange& not_modified) {
        const auto view = worker_.peers;
        const auto copy = *std::exchange(stale_copy_, std::nullopt);
        if (view && copy.peer < view->peers.size() && !view->peers[copy.peer].token.empty()) {
            const auto& peer = view->peers[copy.peer];
            PeerQuestion asked(worker_, config_, peer);
            auto request = question(peer.token + kStaleToo);
            const auto verdict = co_await asked.ask(std::move(request));
            auto& exchange = asked.exchange();
            const auto& given = exchange.head();
            const auto held = validators_of(given.fields);
            if (verdict == PeerVerdict::hit && given.status == 200 && held.etag == copy.etag &&
                held.last_modified == copy.last_modified) {
                const auto validation = received(not_modified);
                const UpdatedFields updated(given.fields, validation);
                Head merged = given;
                merged.fields = updated.merged();
                const Received from{merged, validation.request_time, validation.response_time,
                                    updated.own_lines(), true};
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

    // Bodies in blocks.

    /// None when that is not to be. `length`: of the whole body.
    std::optional<Index> make_index(const Exchange& exchange, std::uint64_t length) {
        if (!job_.may_use_blocks || length == 0 || length > config_.cache.object_max)
            return std::nullopt;
        auto head = exchange.head();
        if (!validators_of(head.fields).strong()) return std::nullopt;
        head.status = 200;
        std::erase_if(head.fields,
                      [](const Field& line) { return line.id == field::content_range; });
        Index index;
        index.draft = delivery_.draft({head, exchange.request_time(), exchange.response_time()});
        if (index.draft.verdict != StorageVerdict::store) return std::nullopt;
        auto& response = *index.draft.response;
        index.live = std::make_shared<LiveFields>();
        render_response(head, config_.node, config_.cache.rules, exchange.response_time(),
                        response.head, *index.live);
        response.blocks = Blocks{length, config_.cache.block};
        if (!delivery_.charge(response)) return std::nullopt;
        return index;
    }

    /// For a complete answer that is too large to be stored in one piece.
    std::optional<Index> large_index(const Exchange& exchange) {
        const auto length = exchange.content_length();
        if (exchange.head().status != 200 || !length || *length <= config_.cache.slice_from ||
            !accepts_ranges(exchange.head().fields))
            return std::nullopt;
        return make_index(exchange, *length);
    }

    void publish(Index index, unsigned upstream_status) {
        delivery_.give(std::move(index.draft), std::move(index.live), false, upstream_status);
    }

    /// The origin gave the block that was asked for, of a body of which nothing was known.
    asio::awaitable<void> begin_in_blocks(Exchange& exchange) {
        const auto& head = exchange.head();
        const auto given = content_range(head.fields);
        std::optional<Index> index;
        if (given && given->range && given->length) index = make_index(exchange, *given->length);
        if (!index || given->range != index->draft.response->blocks->at(job_.part->first)) {
            // Not to be stored, but the very answer, if any version will do.
            if (given && is_wanted(*job_.part, *given) && !job_.part_of_a_version)
                co_await pass(exchange);
            else
                delivery_.fail(FetchError::not_in_parts, head.status, true);
            co_return;
        }
        const auto job = make_block_job(worker_, job_.request, job_.config, job_.route,
                                        *index->draft.response->blocks,
                                        validators_of(head.fields).etag, job_.part->first);
        auto& store = worker_.shared.store;
        const auto found = store.find(job->hash, job->uri, {}, Clock::now());
        const auto leads =
            !found.response && store.claim(job->hash, job->uri, found, job->fill).leader;
        job->generation = found.generation;
        Delivery block(worker_, *job);
        publish(std::move(*index), head.status);
        if (leads)
            co_await take_block(block, *job->block, exchange);
        else
            block.leave();  // it is there, or on its way
    }

    static asio::awaitable<void> take_block(Delivery& delivery, const FetchJob::Block& wanted,
                                            Exchange& exchange) {
        const auto& head = exchange.head();
        if (is_wanted(wanted, head))
            co_await pass(delivery, exchange);
        else
            delivery.fail(head.status >= 500 ? FetchError::origin_error : FetchError::changed,
                          head.status);
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

std::unique_ptr<FetchJob> make_block_job(Worker& worker,
                                         std::shared_ptr<const RequestSnapshot> request,
                                         std::shared_ptr<const Config> config,
                                         const OriginRoute& route, const Blocks& blocks,
                                         std::string_view etag, std::uint64_t offset) {
    auto job = std::make_unique<FetchJob>(worker, std::move(request), std::move(config));
    job->block = FetchJob::Block{blocks.at(offset), blocks.length, std::string(etag)};
    job->uri = block_key(job->request->key.uri(), etag, job->block->range);
    job->hash = worker.shared.key_hasher(job->uri);
    job->route = route;
    job->fill->keep();
    return job;
}

}  // namespace proxy
