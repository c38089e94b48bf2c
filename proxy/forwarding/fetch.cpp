#include "proxy/forwarding/fetch.hpp"

#include <algorithm>
#include <boost/beast/http/status.hpp>

#include "proxy/forwarding/exchange.hpp"
#include "proxy/forwarding/fill_writer.hpp"
#include "proxy/forwarding/interim.hpp"
#include "proxy/forwarding/peer_question.hpp"
#include "proxy/forwarding/response_head.hpp"
#include "proxy/http/cache_status.hpp"
#include "proxy/http/field_list.hpp"
#include "proxy/http/freshness.hpp"
#include "proxy/http/hop_by_hop.hpp"
#include "proxy/http/merge_304.hpp"
#include "proxy/http/request_policy.hpp"
#include "proxy/http/storage_verdict.hpp"
#include "proxy/http/tags.hpp"
#include "proxy/http/validators.hpp"
#include "proxy/http/vary.hpp"
#include "summary/directory.hpp"

namespace proxy {
namespace {

namespace asio = boost::asio;
using boost::beast::http::field;
using boost::beast::http::verb;
using Clock = std::chrono::steady_clock;

/// An age is the sum of two times that are each less than a second too short.
constexpr std::chrono::seconds kAgeGranularity{2};

const std::string kStaleToo(" stale");

/// A block needs no freshness of its own: its key names the version.
Freshness block_freshness() {
    Freshness freshness;
    freshness.lifetime = saturate(kMaxDelta);
    freshness.source = LifetimeSource::max_age;
    freshness.has_validator = true;
    return freshness;
}

bool accepts_ranges(Fields response) {
    FieldMembers units(response, field::accept_ranges);
    while (const auto unit = units.next())
        if (iequals(*unit, "bytes")) return true;
    return false;
}

/// A head as its sender gave it, and when.
struct Received {
    const Head& head;
    WallTime request_time, response_time;
};
Received received(const Exchange& exchange) {
    return {exchange.head(), exchange.request_time(), exchange.response_time()};
}

/// The fields of a 304 that bear on what is stored, with a Date in any case. What is said of this
/// hop's exchange stays with it. `date` keeps the bytes of one that was missing.
std::vector<Field> fields_of_304(const Exchange& exchange, std::string& date) {
    std::vector<Field> fields;
    for (const auto& line : exchange.head().fields)
        if (line.id != field::via && !iequals(line.name, "Cache-Status")) fields.push_back(line);
    if (!find(fields, field::date)) {
        append_http_date(date, exchange.response_time());
        fields.push_back({field::date, "Date", date});
    }
    return fields;
}

/// The life of one fetch. Its destructor tells the fill and the store if nothing else did: a
/// coroutine that is cancelled leaves nobody waiting.
class Fetch {
    using Tags = std::optional<std::vector<summary::KeyHash>>;

public:
    Fetch(Worker& worker, FetchJob& job)
        : worker_(worker),
          config_(*job.config),
          job_(job),
          writer_(worker, config_, job.hash, *job.fill, *job.wakeup) {}
    Fetch(const Fetch&) = delete;
    Fetch& operator=(const Fetch&) = delete;
    ~Fetch() {
        if (!ended_) fail(FetchError::stopping);
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
        std::size_t peer = 0;
        std::string etag, last_modified;
        Validators validators() const { return {etag, last_modified, {}}; }
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

    std::string question(std::string_view token) const {
        std::string lines;
        if (job_.block) lines = block_request_lines(job_.block->etag, job_.block->range);
        return peer_request(*job_.request, config_.node, token, max_age(), lines);
    }

    asio::awaitable<bool> ask_peer(const protocol::PeerView& view, std::size_t index) {
        const auto& peer = view.peers[index];
        if (!peer.in_step || peer.token.empty()) co_return false;
        PeerQuestion asked(worker_, config_, peer);
        auto request = question(peer.token);
        const auto verdict = co_await asked.ask(std::move(request));
        auto& exchange = asked.exchange();
        if (verdict == PeerVerdict::stale_hit && !job_.stale && !stale_copy_) {
            const auto known = validators_of(exchange.head().fields);
            if (known.any())
                stale_copy_ = {index, std::string(known.etag), std::string(known.last_modified)};
        }
        if (verdict != PeerVerdict::hit || !acceptable_from_peer(exchange)) co_return false;
        if (!job_.block &&
            invalidated_within(greatest_age(exchange), tags_in(exchange.head().fields))) {
            asked.close(PeerVerdict::stale_hit);
            co_return false;
        }
        const auto from = received(exchange);
        const auto faultless = co_await deliver(exchange, from, Fill::Source::peer, peer.node);
        asked.close(faultless ? PeerVerdict::hit : PeerVerdict::failure);
        co_return true;
    }

    /// A peer may only give what this cache may reuse without validation.
    bool acceptable_from_peer(const Exchange& exchange) const {
        const auto& head = exchange.head();
        if (job_.block) return is_wanted_block(head);
        if (head.status < 200 || head.status == 206 || head.status == 304) return false;
        const auto freshness = freshness_of(head.status, head.fields, exchange.request_time(),
                                            exchange.response_time(), config_.cache.rules);
        return usable(decide_reuse(job_.directives, freshness, std::chrono::seconds(0)));
    }

    bool is_wanted_block(const Head& head) const {
        const auto range = content_range(head.fields);
        const auto& wanted = *job_.block;
        return head.status == 206 && range && range->range == wanted.range &&
               range->length == wanted.length && validators_of(head.fields).etag == wanted.etag;
    }

    /// Too many tags count as none: then it is not stored.
    Tags tags_in(Fields response) const {
        return tags_of(response, job_.request->key.origin(), worker_.shared.key_hasher);
    }

    /// Was what is wanted, or something with one of these tags, invalidated so short a time ago?
    bool invalidated_within(std::chrono::seconds time, const Tags& tags = {}) const {
        const auto at = worker_.shared.store.invalidated_at(
            job_.hash, tags ? std::span(*tags) : std::span<const summary::KeyHash>());
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
    std::chrono::seconds greatest_age(const Exchange& exchange) const {
        const auto& head = exchange.head();
        const auto freshness = freshness_of(head.status, head.fields, exchange.request_time(),
                                            exchange.response_time(), config_.cache.rules);
        return std::chrono::seconds(freshness.initial_age) + kAgeGranularity;
    }

    asio::awaitable<void> ask_origin() {
        if (!std::holds_alternative<UpstreamTarget>(job_.route)) {
            fail(FetchError::not_allowed);
            co_return;
        }
        const auto& target = std::get<UpstreamTarget>(job_.route);
        std::vector<Field> stored_fields;
        Validators validators;
        std::string lines;
        if (job_.block) {
            lines = block_request_lines(job_.block->etag, job_.block->range);
        } else if (job_.stale) {
            stored_fields = job_.stale->fields();
            validators = validators_of(stored_fields);
            append_validation(lines, validators);
        } else if (stale_copy_) {
            validators = stale_copy_->validators();
            append_validation(lines, validators);
        } else if (job_.part) {
            const auto range = Blocks::aligned(job_.part->first, config_.cache.block);
            lines.append("Range: bytes=").append(std::to_string(range.first)).append("-");
            lines.append(std::to_string(range.last)).append("\r\n");
        }
        Exchange exchange(worker_.pool, worker_.head_limits());
        const Exchange::Request request{origin_request(*job_.request, config_.node, lines), false,
                                        true};
        exchange.on_interim([this](const Head& interim) { return pass_on(interim); });
        ++worker_.counters.origin_requests;
        const auto patience = for_origin();
        const auto error = co_await exchange.run(target, request, patience);
        if (error != FetchError::none) {
            ++worker_.counters.origin_failures;
            fail(error);
            co_return;
        }
        const auto& head = exchange.head();
        if (job_.block) {
            co_await take_block(exchange);
            co_return;
        }
        if (head.status == 304) {
            // RFC 9111 §4.3.3: only for what was asked, and never handed on as an answer.
            if (!validators.any() || !applies_to(head.fields, validators)) {
                fail(FetchError::malformed, head.status);
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
                            job_.stale->residence(Clock::now()), OriginTrouble::error_status,
                            config_.cache.rules)) {
            fail(FetchError::origin_error, head.status);
            co_return;
        }
        if (head.status == 206 && job_.part) {
            co_await begin_in_blocks(exchange);
            co_return;
        }
        if (const auto index = large_index(exchange)) {
            publish_index(exchange, index);  // the rest of this exchange is of no use: blocks come
            co_return;
        }
        const auto from = received(exchange);
        co_await deliver(exchange, from, Fill::Source::origin, {});
    }

    asio::awaitable<void> pass_on(const Head& interim) {
        std::string text;
        append_interim(text, interim, config_.node);
        job_.fill->interim(text);
        co_return;
    }

    /// The stored response is good again, with the fields of the 304 (RFC 9111 §4.3.4).
    void validated(const Exchange& exchange, Fields stored) {
        std::string date;
        const auto answer = fields_of_304(exchange, date);
        const auto merged = merge_304(stored, answer);
        auto response = std::make_shared<StoredResponse>();
        response->status = job_.stale->status;
        append_status_line(response->head, job_.stale->status);
        // Age belongs to this exchange, and what a qualified no-cache or private names to its
        // client.
        const StoredFields to_store(merged, config_.cache.rules);
        auto live = std::make_shared<LiveFields>();
        for (const auto& line : merged) {
            if (to_store(line))
                append_line(response->head, line);
            else if (line.id != field::age)
                append_line(live->lines, line);
        }
        response->freshness = freshness_of(response->status, merged, exchange.request_time(),
                                           exchange.response_time(), config_.cache.rules);
        // A 304 brings an Age of its own, or none: the stored one is history.
        response->received = Clock::now();
        response->vary_names = vary_names(merged);
        append_variant(response->variant, response->vary_names, job_.request->fields);
        note_tags(*response, merged);
        response->body = job_.stale->body;
        response->blocks = job_.stale->blocks;
        auto verdict = verdict_for(response->status, merged, response->freshness);
        if (verdict == StorageVerdict::store && !charge(*response))
            verdict = StorageVerdict::no_room;
        const auto store = verdict == StorageVerdict::store;
        ++worker_.counters.verdicts[verdict];

        Fill::Answer begun;
        begun.response = response;
        begun.live = std::move(live);
        begun.shared = store;
        begun.validated = true;
        begun.length = response->body_bytes();
        begun.length_known = true;
        begun.upstream_status = 304;
        begun.verdict = verdict;
        job_.fill->begin(std::move(begun));
        ended_ = true;
        job_.fill->complete();
        end_claim(store ? response : nullptr, !store);
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
                std::string date;
                const auto answer = fields_of_304(not_modified, date);
                Head merged = given;
                merged.fields = merge_304(given.fields, answer);
                const Received from{merged, not_modified.request_time(),
                                    not_modified.response_time()};
                const auto faultless =
                    co_await deliver(exchange, from, Fill::Source::peer, peer.node, 304);
                asked.close(faultless ? PeerVerdict::hit : PeerVerdict::failure);
                co_return;
            }
        }
        co_await ask_origin();  // whole, as the copy is gone
    }

    // Bodies in blocks.

    /// The object that stands for a body in blocks, or null when that is not to be. `length`: of
    /// the whole body.
    std::shared_ptr<StoredResponse> make_index(const Exchange& exchange, std::uint64_t length) {
        if (!job_.may_use_blocks || length == 0 || length > config_.cache.object_max)
            return nullptr;
        Head head = exchange.head();
        if (!validators_of(head.fields).strong()) return nullptr;
        head.status = 200;
        std::erase_if(head.fields,
                      [](const Field& line) { return line.id == field::content_range; });
        auto response = std::make_shared<StoredResponse>();
        describe(*response, {head, exchange.request_time(), exchange.response_time()});
        if (verdict_for(200, head.fields, response->freshness) != StorageVerdict::store)
            return nullptr;
        live_ = std::make_shared<LiveFields>();
        render_response(head, config_.node, config_.cache.rules, exchange.response_time(),
                        response->head, *live_);
        response->blocks = Blocks{length, config_.cache.block};
        return charge(*response) ? response : nullptr;
    }

    /// For a complete answer that is too large to be stored in one piece.
    std::shared_ptr<StoredResponse> large_index(const Exchange& exchange) {
        const auto length = exchange.content_length();
        if (exchange.head().status != 200 || !length || *length <= config_.cache.slice_from ||
            !accepts_ranges(exchange.head().fields))
            return nullptr;
        return make_index(exchange, *length);
    }

    void publish_index(const Exchange& exchange, std::shared_ptr<StoredResponse> index) {
        ++worker_.counters.verdicts[StorageVerdict::store];
        Fill::Answer answer;
        answer.response = index;
        answer.shared = true;
        answer.length = index->blocks->length;
        answer.length_known = true;
        answer.upstream_status = exchange.head().status;
        answer.live = live_;
        job_.fill->begin(std::move(answer));
        ended_ = true;
        job_.fill->complete();
        end_claim(std::move(index), false);
    }

    /// The origin gave the block that was asked for, of a body of which nothing was known.
    asio::awaitable<void> begin_in_blocks(Exchange& exchange) {
        const auto& head = exchange.head();
        const auto given = content_range(head.fields);
        std::shared_ptr<StoredResponse> index;
        if (given && given->range && given->length) index = make_index(exchange, *given->length);
        if (!index || given->range != index->blocks->at(job_.part->first)) {
            if (given && is_wanted_part(*given)) {  // not to be stored, but the very answer
                const auto from = received(exchange);
                co_await deliver(exchange, from, Fill::Source::origin, {});
                co_return;
            }
            worker_.shared.store.abandon(job_.hash, job_.fill.get(), true, Clock::now());
            fail(FetchError::not_in_parts, head.status);
            co_return;
        }
        const std::string etag(validators_of(head.fields).etag);
        const auto job = make_block_job(worker_, job_.request, job_.config, job_.route,
                                        *index->blocks, etag, job_.part->first);
        auto& store = worker_.shared.store;
        const auto found = store.find(job->hash, job->uri, {}, Clock::now());
        const auto leads =
            !found.response && store.claim(job->hash, job->uri, found, job->fill).leader;
        job->generation = found.generation;
        Fetch block(worker_, *job);
        publish_index(exchange, std::move(index));
        if (leads)
            co_await block.take_block(exchange);
        else
            block.ended_ = true;  // it is there, or on its way
    }

    bool is_wanted_part(const ContentRange& given) const {
        const auto& part = *job_.part;
        if (!given.range || given.range->first != part.first) return false;
        if (part.form == RangeRequest::Form::open)
            return given.length && given.range->last + 1 == *given.length;
        return given.range->last == part.last ||
               (given.length && given.range->last + 1 == *given.length &&
                part.last > given.range->last);
    }

    asio::awaitable<void> take_block(Exchange& exchange) {
        const auto& head = exchange.head();
        if (!is_wanted_block(head)) {
            fail(head.status >= 500 ? FetchError::origin_error : FetchError::changed, head.status);
            co_return;
        }
        const auto from = received(exchange);
        co_await deliver(exchange, from, Fill::Source::origin, {});
    }

    // Into the fill and the store.

    Exchange::Patience for_origin() const {
        return {Clock::now() + config_.timeouts.origin_connect, config_.timeouts.origin_head};
    }

    StorageVerdict verdict_for(unsigned status, Fields fields, const Freshness& freshness) const {
        const auto verdict =
            storage_verdict(verb::get, job_.request->fields, job_.directives, status, fields,
                            freshness, config_.cache.rules);
        if (verdict != StorageVerdict::store || tags_in(fields)) return verdict;
        return StorageVerdict::too_many_tags;
    }

    /// Pays for the head and the store's records; false when there is no room.
    bool charge(StoredResponse& response) {
        auto taken = worker_.shared.store.reserve(
            response.head.size() + Store::overhead_bytes(job_.uri, response.tags.size()));
        if (taken) response.charge = std::move(*taken);
        return taken.has_value();
    }

    /// A block goes with its target as well.
    void note_tags(StoredResponse& response, Fields fields) {
        auto& store = worker_.shared.store;
        if (auto tags = tags_in(fields)) response.tags = std::move(*tags);
        if (!job_.block) return;
        store.will_hold_blocks();
        response.tags.push_back(worker_.shared.key_hasher(job_.request->key.uri()));
        std::sort(response.tags.begin(), response.tags.end(), precedes);
    }

    void describe(StoredResponse& response, const Received& from) {
        response.status = from.head.status;
        response.received = Clock::now();
        response.body = std::make_shared<Body>();
        note_tags(response, from.head.fields);
        if (job_.block) {
            response.freshness = block_freshness();
            return;
        }
        response.freshness = freshness_of(from.head.status, from.head.fields, from.request_time,
                                          from.response_time, config_.cache.rules);
        response.vary_names = vary_names(from.head.fields);
        append_variant(response.variant, response.vary_names, job_.request->fields);
    }

    StorageVerdict verdict_for(const StoredResponse& response, const Head& head,
                               std::optional<std::uint64_t> length) const {
        if (job_.block) return StorageVerdict::store;  // the index was judged
        const auto verdict = verdict_for(head.status, head.fields, response.freshness);
        const auto too_large = length && *length > FillWriter::object_max(config_);
        return verdict == StorageVerdict::store && too_large ? StorageVerdict::too_large : verdict;
    }

    /// Passes one answer, whose head is `from`, into the fill. False when its source broke off.
    /// `upstream_status`: what the source said, when it is not the head's.
    asio::awaitable<bool> deliver(Exchange& exchange, const Received& from, Fill::Source source,
                                  std::string peer, unsigned upstream_status = 0) {
        auto response = std::make_shared<StoredResponse>();
        describe(*response, from);
        const auto length =
            exchange.done() ? std::optional<std::uint64_t>(0) : exchange.content_length();
        auto verdict = verdict_for(*response, from.head, length);
        auto live = std::make_shared<LiveFields>();
        render_response(from.head, config_.node, config_.cache.rules, from.response_time,
                        response->head, *live);
        const auto copy = source == Fill::Source::origin || wants_copy();
        if (verdict == StorageVerdict::store && copy && !charge(*response))
            verdict = StorageVerdict::no_room;

        Fill::Answer answer;
        answer.response = response;
        answer.shared = verdict == StorageVerdict::store && copy;
        answer.source = source;
        answer.peer = std::move(peer);
        answer.length = length.value_or(0);
        answer.length_known = length.has_value();
        answer.upstream_status = upstream_status != 0 ? upstream_status : from.head.status;
        answer.live = std::move(live);
        if (answer.shared && !response->tags.empty() &&
            !worker_.shared.store.tag_fill(job_.hash, job_.fill.get(), job_.generation,
                                           response->tags)) {
            answer.shared = false;
            verdict = StorageVerdict::invalidated;
        }
        answer.verdict = verdict;
        const auto validators = validators_of(from.head.fields);
        if (validators.strong()) etag_ = validators.etag;
        const auto shared = answer.shared;
        writer_.begin(std::move(answer), verdict);
        // Followers that were let go must not come back one after the other (hit-for-miss).
        if (!shared && copy)
            worker_.shared.store.abandon(job_.hash, job_.fill.get(), true, Clock::now());

        auto error = co_await writer_.receive(exchange, source);
        const auto faultless = error == FetchError::none || error == FetchError::abandoned;
        if (!faultless && source == Fill::Source::peer && !job_.block) error = co_await resume();
        if (error == FetchError::none && job_.block &&
            job_.fill->received() != job_.block->range.size())
            error = FetchError::malformed;
        const auto done = error == FetchError::none;
        ++worker_.counters.verdicts[done                             ? writer_.verdict()
                                    : error == FetchError::abandoned ? StorageVerdict::aborted
                                                                     : StorageVerdict::incomplete];
        if (!done) {
            fail(error, from.head.status);
            co_return faultless;
        }
        exchange.finish();
        ended_ = true;
        end_claim(job_.fill->complete(), false);
        co_return faultless;
    }

    /// A peer died inside a body: the rest comes from the origin if it is provably the same
    /// representation (RFC 9110 §13.1.5).
    asio::awaitable<FetchError> resume() {
        if (etag_.empty() || !std::holds_alternative<UpstreamTarget>(job_.route))
            co_return FetchError::reset;
        const auto offset = job_.fill->received();
        const auto lines =
            "Range: bytes=" + std::to_string(offset) + "-\r\nIf-Range: " + etag_ + "\r\n";
        Exchange exchange(worker_.pool, worker_.head_limits());
        const Exchange::Request request{origin_request(*job_.request, config_.node, lines), false,
                                        true};
        ++worker_.counters.origin_requests;
        const auto& target = std::get<UpstreamTarget>(job_.route);
        const auto patience = for_origin();
        const auto error = co_await exchange.run(target, request, patience);
        if (error != FetchError::none) {
            ++worker_.counters.origin_failures;
            co_return error;
        }
        const auto& head = exchange.head();
        const auto state = job_.fill->state();
        const auto given = content_range(head.fields);
        if (head.status != 206 || !given || !given->range || !given->length ||
            given->range->first != offset || given->range->last + 1 != *given->length ||
            (state.length_known && *given->length != state.length) ||
            validators_of(head.fields).etag != etag_)
            co_return FetchError::reset;
        const auto result = co_await writer_.receive(exchange, Fill::Source::origin);
        if (result != FetchError::none) co_return result;
        if (job_.fill->received() != *given->length) co_return FetchError::malformed;
        exchange.finish();
        co_return FetchError::none;
    }

    bool wants_copy() {
        switch (config_.cluster->copy) {
            case CopyPolicy::always:
                return true;
            case CopyPolicy::second_use:
                return worker_.shared.seen_once.note(job_.hash);
            case CopyPolicy::never:
                break;
        }
        return false;
    }

    void end_claim(std::shared_ptr<const StoredResponse> response, bool unshareable) {
        auto& store = worker_.shared.store;
        const auto now = Clock::now();
        if (response) {
            if (!store.publish(job_.hash, job_.uri, job_.fill.get(), job_.generation,
                               std::move(response), now))
                ++worker_.counters.verdicts[StorageVerdict::invalidated];
        } else {
            store.abandon(job_.hash, job_.fill.get(), unshareable, now);
        }
    }

    void fail(FetchError error, unsigned upstream_status = 0) {
        ended_ = true;
        // In this order: nobody new joins a fill that has failed.
        worker_.shared.store.abandon(job_.hash, job_.fill.get(), false, Clock::now());
        job_.fill->fail(error, upstream_status);
    }

    Worker& worker_;
    const Config& config_;
    FetchJob& job_;
    FillWriter writer_;
    bool ended_ = false;
    std::string etag_;  // strong, of the answer being received
    std::optional<StaleCopy> stale_copy_;
    std::shared_ptr<LiveFields> live_;  // of an index
};

}  // namespace

asio::awaitable<void> fetch(Worker& worker, std::unique_ptr<FetchJob> job) {
    Fetch running(worker, *job);
    co_await running.run();
}

std::unique_ptr<FetchJob> make_block_job(Worker& worker,
                                         std::shared_ptr<const RequestSnapshot> request,
                                         std::shared_ptr<const Config> config,
                                         const OriginRoute& route, const Blocks& blocks,
                                         std::string_view etag, std::uint64_t offset) {
    auto job = std::make_unique<FetchJob>(std::move(request), std::move(config));
    job->block = FetchJob::Block{blocks.at(offset), blocks.length, std::string(etag)};
    job->uri = block_key(job->request->key.uri(), etag, job->block->range);
    job->hash = worker.shared.key_hasher(job->uri);
    job->route = route;
    job->wakeup = std::make_shared<Wakeup>(worker.io.get_executor());
    job->fill = std::make_shared<Fill>(job->wakeup, job->config->limits.body_window);
    job->fill->keep();
    return job;
}

}  // namespace proxy
