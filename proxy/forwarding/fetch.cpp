#include "proxy/forwarding/fetch.hpp"

#include <boost/beast/http/status.hpp>

#include "proxy/forwarding/exchange.hpp"
#include "proxy/forwarding/interim.hpp"
#include "proxy/forwarding/response_head.hpp"
#include "proxy/http/cache_status.hpp"
#include "proxy/http/field_list.hpp"
#include "proxy/http/freshness.hpp"
#include "proxy/http/hop_by_hop.hpp"
#include "proxy/http/merge_304.hpp"
#include "proxy/http/request_policy.hpp"
#include "proxy/http/storage_verdict.hpp"
#include "proxy/http/validators.hpp"
#include "proxy/http/vary.hpp"
#include "summary/directory.hpp"

namespace proxy {
namespace {

namespace asio = boost::asio;
using boost::beast::http::field;
using Clock = std::chrono::steady_clock;

/// An age is the sum of two times that are each less than a second too short.
constexpr std::chrono::seconds kAgeGranularity{2};

/// The life of one fetch. Its destructor tells the fill and the store if nothing else did: a
/// coroutine that is cancelled leaves nobody waiting.
class Fetch {
public:
    Fetch(Worker& worker, FetchJob& job) : worker_(worker), config_(*job.config), job_(job) {}
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
            const auto& peer = view->peers[choice.peers[i]];
            if (!peer.in_step || peer.token.empty()) continue;
            const auto answered = co_await ask_peer(peer, choice.peers[i]);
            if (answered) co_return true;
        }
        co_return false;
    }

    asio::awaitable<bool> ask_peer(const protocol::PeerView::Peer& peer, std::size_t index) {
        // The view may change while we wait, and with it the records; a name finds its record
        // again.
        const auto record = [this, index, &peer]() -> PeerRecord* {
            const auto& now = worker_.peers;
            return now && index < now->peers.size() && now->peers[index].node == peer.node
                       ? &worker_.peer_records[index]
                       : nullptr;
        };
        ++worker_.counters.peer_requests;
        record()->asked();
        const auto begun = Clock::now();
        const auto budget = config_.cluster->peer_budget;
        Exchange exchange(worker_.pool, worker_.head_limits());
        const Exchange::Request request{
            peer_request(job_.request, config_.node, peer.token, max_age()), false, true};
        const UpstreamTarget target{peer.http_host,
                                    static_cast<std::uint16_t>(std::stoul(peer.http_port)), false};
        const Exchange::Patience patience{begun + budget, budget, begun + budget};
        const auto error = co_await exchange.run(target, request, patience);
        const auto round_trip = Clock::now() - begun;

        auto verdict = PeerVerdict::hit;
        if (error != FetchError::none)
            verdict = error == FetchError::head_timeout || error == FetchError::connect_timeout
                          ? PeerVerdict::timeout
                          : PeerVerdict::failure;
        else if (exchange.head().status == 504 &&
                 refusal_of(exchange.head().fields) != Refusal::unknown)  // else it has one stored
            verdict = verdict_of(refusal_of(exchange.head().fields));
        else if (!acceptable_from_peer(exchange))
            verdict = PeerVerdict::failure;
        const auto outdated =
            verdict == PeerVerdict::hit && invalidated_within(greatest_age(exchange));
        if (outdated) verdict = PeerVerdict::stale_hit;
        if (verdict != PeerVerdict::hit) {
            if (auto* r = record()) r->ended(verdict, round_trip, Clock::now());
            if (error == FetchError::none &&
                !outdated) {  // the refusal's body, so that the connection can be used again
                auto rest = FetchError::none;
                while (rest == FetchError::none && !exchange.done())
                    rest = co_await exchange.read_body(Clock::now() + budget);
                exchange.finish();
            }
            co_return false;
        }
        const auto faultless = co_await deliver(exchange, Fill::Source::peer, peer.node);
        if (auto* r = record())
            r->ended(faultless ? PeerVerdict::hit : PeerVerdict::failure, round_trip, Clock::now());
        co_return true;
    }

    /// A peer may only give what this cache may reuse without validation.
    bool acceptable_from_peer(const Exchange& exchange) const {
        const auto& head = exchange.head();
        if (head.status < 200 || head.status == 206 || head.status == 304) return false;
        const auto freshness = freshness_of(head.status, head.fields, exchange.request_time(),
                                            exchange.response_time());
        return usable(decide_reuse(job_.directives, freshness, std::chrono::seconds(0)));
    }

    /// Was what is wanted invalidated so short a time ago?
    bool invalidated_within(std::chrono::seconds time) const {
        const auto at = worker_.shared.store.invalidated_at(job_.hash);
        return at && Clock::now() - *at < time;
    }

    /// How old a copy may say it is. The peer obeys if it is so configured, and saves a body.
    std::optional<std::chrono::seconds> max_age() const {
        const auto at = worker_.shared.store.invalidated_at(job_.hash);
        if (!at) return std::nullopt;
        const auto since = std::chrono::floor<std::chrono::seconds>(Clock::now() - *at);
        return std::max(since - kAgeGranularity, std::chrono::seconds(0));
    }

    /// The copy that has arrived was made at most so long ago.
    static std::chrono::seconds greatest_age(const Exchange& exchange) {
        const auto& head = exchange.head();
        const auto freshness = freshness_of(head.status, head.fields, exchange.request_time(),
                                            exchange.response_time());
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
        std::string conditions;
        if (job_.stale) {
            stored_fields = job_.stale->fields();
            validators = validators_of(stored_fields);
            append_validation(conditions, validators);
        }
        Exchange exchange(worker_.pool, worker_.head_limits());
        const Exchange::Request request{origin_request(job_.request, config_.node, conditions),
                                        false, true};
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
        if (head.status == 304) {
            // RFC 9111 §4.3.3: only for what was asked, and never handed on as an answer.
            if (conditions.empty() || !applies_to(head.fields, validators)) {
                fail(FetchError::malformed, head.status);
            } else {
                validated(exchange, stored_fields);
            }
            exchange.finish();
            co_return;
        }
        if (job_.stale && is_origin_trouble(head.status) &&
            may_serve_stale(job_.directives, job_.stale->freshness,
                            job_.stale->residence(Clock::now()), OriginTrouble::error_status)) {
            fail(FetchError::origin_error, head.status);
            co_return;
        }
        co_await deliver(exchange, Fill::Source::origin, {});
    }

    asio::awaitable<void> pass_on(const Head& interim) {
        std::string text;
        append_interim(text, interim, config_.node);
        job_.fill->interim(text);
        co_return;
    }

    /// The stored response is good again, with the fields of the 304 (RFC 9111 §4.3.4).
    void validated(const Exchange& exchange, Fields stored) {
        ++worker_.counters.validations;
        std::vector<Field> answer;
        for (const auto& line :
             exchange.head().fields)  // what is said of this hop's exchange stays with it
            if (line.id != field::via && !iequals(line.name, "Cache-Status"))
                answer.push_back(line);
        std::string date;
        if (!find(answer, field::date)) {
            append_http_date(date, exchange.response_time());
            answer.push_back({field::date, "Date", date});
        }
        const auto merged = merge_304(stored, answer);
        auto response = std::make_shared<StoredResponse>();
        response->status = job_.stale->status;
        append_status_line(response->head, job_.stale->status);
        // Age belongs to this exchange, and what a qualified no-cache or private names to its
        // client.
        const StoredFields to_store(merged);
        auto live = std::make_shared<LiveFields>();
        for (const auto& line : merged) {
            if (to_store(line))
                append_line(response->head, line);
            else if (line.id != field::age)
                append_line(live->lines, line);
        }
        response->freshness = freshness_of(response->status, merged, exchange.request_time(),
                                           exchange.response_time());
        // A 304 brings an Age of its own, or none: the stored one is history.
        response->received = Clock::now();
        response->vary_names = vary_names(merged);
        append_variant(response->variant, response->vary_names, job_.request.fields);
        response->body = job_.stale->body;
        auto charge = worker_.shared.store.reserve(response->head.size() +
                                                   Store::overhead_bytes(job_.request.key.uri()));
        const auto verdict =
            storage_verdict(boost::beast::http::verb::get, job_.request.fields, job_.directives,
                            response->status, merged, response->freshness, rules());
        const auto store = verdict == StorageVerdict::store && charge;
        if (charge) response->charge = std::move(*charge);
        ++worker_.counters
              .verdicts[verdict == StorageVerdict::store && !store ? StorageVerdict::no_room
                                                                   : verdict];

        Fill::Answer begun;
        begun.response = response;
        begun.live = std::move(live);
        begun.shared = store;
        begun.validated = true;
        begun.length = response->body->size();
        begun.length_known = true;
        begun.upstream_status = 304;
        job_.fill->begin(std::move(begun));
        ended_ = true;
        job_.fill->complete();
        end_claim(store ? response : nullptr, !store);
    }

    Exchange::Patience for_origin() const {
        return {Clock::now() + config_.timeouts.origin_connect, config_.timeouts.origin_head};
    }

    StorageRules rules() const { return {config_.cache.store_set_cookie}; }
    /// No single object pushes out more than half of what is stored.
    std::uint64_t object_max() const {
        return std::min(config_.cache.object_max, config_.cache.memory / 2);
    }

    /// Passes one answer into the fill. False when its source broke off.
    asio::awaitable<bool> deliver(Exchange& exchange, Fill::Source source, std::string peer) {
        const auto& head = exchange.head();
        auto response = std::make_shared<StoredResponse>();
        response->status = head.status;
        response->received = Clock::now();
        response->freshness = freshness_of(head.status, head.fields, exchange.request_time(),
                                           exchange.response_time());
        response->vary_names = vary_names(head.fields);
        append_variant(response->variant, response->vary_names, job_.request.fields);
        response->body = std::make_shared<Body>();

        auto verdict =
            storage_verdict(boost::beast::http::verb::get, job_.request.fields, job_.directives,
                            head.status, head.fields, response->freshness, rules());
        const auto length =
            exchange.done() ? std::optional<std::uint64_t>(0) : exchange.content_length();
        if (verdict == StorageVerdict::store && length && *length > object_max())
            verdict = StorageVerdict::too_large;
        const auto copy = source == Fill::Source::origin || wants_copy();

        auto live = std::make_shared<LiveFields>();
        render_response(head, config_.node, exchange.response_time(), response->head, *live);
        if (verdict == StorageVerdict::store && copy) {
            auto charge = worker_.shared.store.reserve(
                response->head.size() + Store::overhead_bytes(job_.request.key.uri()));
            if (charge)
                response->charge = std::move(*charge);
            else
                verdict = StorageVerdict::no_room;
        }

        Fill::Answer answer;
        answer.response = response;
        answer.shared = verdict == StorageVerdict::store && copy;
        answer.source = source;
        answer.peer = std::move(peer);
        answer.length = length.value_or(0);
        answer.length_known = length.has_value();
        answer.upstream_status = head.status;
        answer.live = std::move(live);
        shared_ = answer.shared;
        verdict_ = verdict;
        etag_ = validators_of(head.fields).strong() ? std::string(validators_of(head.fields).etag)
                                                    : std::string();
        job_.fill->begin(std::move(answer));
        // Followers that were let go must not come back one after the other (hit-for-miss).
        if (!shared_ && copy)
            worker_.shared.store.abandon(job_.hash, job_.fill.get(), true, Clock::now());

        auto error = co_await receive(exchange, source);
        const auto faultless = error == FetchError::none || error == FetchError::abandoned;
        if (!faultless && source == Fill::Source::peer) error = co_await resume();
        ++worker_.counters.verdicts[error == FetchError::none        ? verdict_
                                    : error == FetchError::abandoned ? StorageVerdict::aborted
                                                                     : StorageVerdict::incomplete];
        if (error != FetchError::none) {
            fail(error, head.status);
            co_return faultless;
        }
        exchange.finish();
        ended_ = true;
        end_claim(job_.fill->complete(), false);
        co_return faultless;
    }

    /// The rest of the body of `exchange` into the fill.
    asio::awaitable<FetchError> receive(Exchange& exchange, Fill::Source source) {
        auto& received = source == Fill::Source::peer ? worker_.counters.bytes_from_peers
                                                      : worker_.counters.bytes_from_origins;
        while (!exchange.done()) {
            if (!job_.fill->wanted()) co_return FetchError::abandoned;
            const auto error =
                co_await exchange.read_body(Clock::now() + config_.timeouts.body_idle);
            if (error != FetchError::none) co_return error;
            std::uint64_t rest = 0;  // what is at hand, when it is all there is
            if (exchange.done())
                for (const auto piece : exchange.pieces()) rest += piece.size();
            for (auto piece : exchange.pieces()) {
                received += piece.size();
                while (!piece.empty()) {
                    if (job_.fill->room() == 0) {
                        const auto stopped = co_await make_room(rest);
                        if (stopped != FetchError::none) co_return stopped;
                    }
                    const auto n = std::min(piece.size(), job_.fill->room());
                    job_.fill->append(piece.substr(0, n));
                    piece.remove_prefix(n);
                    rest -= std::min<std::uint64_t>(rest, n);
                }
            }
        }
        co_return FetchError::none;
    }

    /// A new block; for a body that is not stored, after its readers made way. `exact`: bytes still
    /// to come, if known here.
    asio::awaitable<FetchError> make_room(std::uint64_t exact) {
        if (shared_ && job_.fill->received() >= object_max())
            stop_sharing(StorageVerdict::too_large);
        auto bytes = job_.fill->next_block_bytes();
        if (exact > 0)
            bytes = std::min<std::size_t>(bytes, std::min<std::uint64_t>(exact, kBodyBlockBytes));
        Charge charge;
        if (shared_) {
            auto reserved = worker_.shared.store.reserve(bytes);
            if (reserved)
                charge = std::move(*reserved);
            else
                stop_sharing(StorageVerdict::no_room);
        }
        if (!shared_) {
            // As long as the slowest reader moves it may take its time.
            auto slowest = job_.fill->slowest_reader();
            auto deadline = Clock::now() + config_.timeouts.body_idle;
            while (job_.fill->window_full()) {
                if (!job_.fill->wanted()) co_return FetchError::abandoned;
                const auto in_time = co_await job_.wakeup->wait_until(deadline);
                if (job_.fill->slowest_reader() != slowest) {
                    slowest = job_.fill->slowest_reader();
                    deadline = Clock::now() + config_.timeouts.body_idle;
                } else if (!in_time) {
                    co_return FetchError::abandoned;
                }
            }
            if (!job_.fill->wanted()) co_return FetchError::abandoned;
            bytes = std::min(bytes, job_.fill->next_block_bytes());
            // Under the cap as well; with no room left a body that must move on takes small steps
            // beside it.
            auto reserved = worker_.shared.store.reserve(bytes);
            if (reserved)
                charge = std::move(*reserved);
            else
                bytes = std::min(bytes, kFirstBlockBytes);
        }
        job_.fill->add_block(bytes, std::move(charge));
        co_return FetchError::none;
    }

    void stop_sharing(StorageVerdict why) {
        shared_ = false;
        verdict_ = why;
        job_.fill->stop_sharing();
        worker_.shared.store.abandon(job_.hash, job_.fill.get(), true, Clock::now());
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
        const Exchange::Request request{origin_request(job_.request, config_.node, lines), false,
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
        const auto rest = exchange.content_length();
        const auto whole = offset + rest.value_or(0);
        const auto expected = "bytes " + std::to_string(offset) + '-' + std::to_string(whole - 1) +
                              '/' + std::to_string(whole);
        if (head.status != 206 || !rest || head.get(field::content_range) != expected ||
            (state.length_known && whole != state.length) || head.get(field::etag) != etag_)
            co_return FetchError::reset;
        const auto result = co_await receive(exchange, Fill::Source::origin);
        if (result != FetchError::none) co_return result;
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
            if (!store.publish(job_.hash, job_.request.key.uri(), job_.fill.get(), job_.generation,
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
    bool ended_ = false;
    bool shared_ = false;
    StorageVerdict verdict_ = StorageVerdict::store;
    std::string etag_;  // strong, of the answer being received
};

}  // namespace

asio::awaitable<void> fetch(Worker& worker, std::unique_ptr<FetchJob> job) {
    Fetch running(worker, *job);
    co_await running.run();
}

}  // namespace proxy
