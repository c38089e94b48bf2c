#include "proxy/forwarding/client_session.hpp"

#include "proxy/forwarding/answer.hpp"
#include "proxy/forwarding/client_context.hpp"
#include "proxy/forwarding/error_answer.hpp"
#include "proxy/forwarding/fetch.hpp"
#include "proxy/forwarding/relay.hpp"
#include "proxy/forwarding/tunnel.hpp"
#include "proxy/http/field_list.hpp"
#include "proxy/http/hop_by_hop.hpp"
#include "proxy/http/hops.hpp"
#include "proxy/http/request_policy.hpp"
#include "proxy/http/validators.hpp"
#include "proxy/http/vary.hpp"

namespace proxy {
namespace {

namespace asio = boost::asio;
using boost::beast::http::field;
using boost::beast::http::verb;
using Clock = std::chrono::steady_clock;

/// Answers the requests of one connection.
class Session {
public:
    Session(Worker& worker, asio::ip::tcp::socket socket)
        : client_(worker, std::move(socket)), worker_(worker), shared_(worker.shared) {}

    asio::awaitable<void> run() {
        for (;;) {
            const auto received = co_await client_.connection.receive_head();
            if (received == ClientConnection::Received::closed) co_return;
            begin_turn();
            auto keep = false;
            if (received == ClientConnection::Received::head) {
                const auto parsed = parse();
                if (parsed)
                    keep = co_await handle();
                else
                    co_await refuse_parse();
            } else if (received == ClientConnection::Received::timed_out) {
                ++worker_.counters.refusals[RequestRefusal::timeout];
                co_await client_.refuse(408, "The request's head did not come in time.");
            } else {
                parse_error_ = ParseError::head_too_large;
                co_await refuse_parse();
            }
            client_.finish_turn();
            if (!keep) break;
        }
        if (client_.turn.aborted) {
            // To HTTP/1.0 a plain end would mean that the body is whole.
            if (client_.head.version < 11) client_.connection.reset();
        } else if (!client_.connection.broken()) {
            co_await client_.connection.linger();
        }
    }

private:
    /// How a wait for a fetch ended.
    enum class Followed { keep, close, alone };

    void begin_turn() {
        client_.renew_config();
        client_.turn = Turn{};
        client_.turn.begun = Clock::now();
        client_.head.verb = verb::unknown;
        client_.head.version = 11;
        client_.head.target = client_.head.method = {};
        client_.head.fields.clear();
        client_.connection.begin_answer();
        client_.key.clear();
        client_.parser.reset();
    }

    bool parse() {
        client_.parser.emplace(client_.head, worker_.head_limits());
        parse_error_ = client_.parser->parse_head(client_.connection.head_bytes());
        return parse_error_ == ParseError::ok;
    }

    asio::awaitable<bool> refuse_parse() {
        ++worker_.counters.refusals[refusal_of(parse_error_)];
        client_.parser.reset();  // whatever follows is not to be trusted: close
        std::string text("The request was refused: ");
        text.append(to_string(parse_error_)).append(".");
        co_await client_.refuse(status_of(parse_error_), text);
        co_return false;
    }

    asio::awaitable<bool> handle() {
        const auto& head = client_.head;
        if (head.verb == verb::connect) {
            co_await tunnel(client_);
            co_return false;
        }
        const auto* host = find(head.fields, field::host);
        const auto bad = client_.key.assign(Scheme::http, head.verb, head.target,
                                            host ? host->value : std::string_view());
        const HopByHop hop_by_hop(head.fields);
        if (bad != TargetError::none || hop_by_hop.too_many()) {
            ++worker_.counters.refusals[RequestRefusal::malformed];
            std::string text("The request target is refused: ");
            text.append(bad != TargetError::none ? to_string(bad) : "too many connection options")
                .append(".");
            co_await client_.refuse(400, text);
            co_return false;
        }
        client_.hash = shared_.key_hasher(client_.key.uri());
        client_.directives =
            request_directives(head.fields, client_.config().cache.client_directives);
        absolute_form_ = head.target.front() != '/' && head.target.front() != '*';
        if (worker_.peers) {
            if (const auto* proof = find(head.fields, kPeerField)) {
                if (const auto peer = authenticate(proof->value))
                    co_return co_await answer_peer(*peer);  // nobody is asked on: no loop
            }
        }
        if (via_names(head.fields, client_.config().node)) co_return co_await refuse_loop();
        if (head.verb == verb::options || head.verb == verb::trace) {
            const auto limit = max_forwards(head.fields);
            if (limit.state == MaxForwards::State::malformed)
                co_return co_await refuse_max_forwards();
            if (limit.state == MaxForwards::State::present) {
                if (limit.hops == 0) co_return co_await answer_as_last_hop();
                count_hop(limit.hops);
            }
        }
        if ((head.verb != verb::get && head.verb != verb::head) || !client_.parser->is_done() ||
            client_.directives.no_store) {
            co_return co_await pass(head.verb != verb::get && head.verb != verb::head
                                        ? Forward::method
                                        : Forward::bypass,
                                    Outcome::uncacheable);
        }
        co_return co_await answer_from_cache();
    }

    asio::awaitable<bool> refuse_loop() {
        ++worker_.counters.refusals[RequestRefusal::loop];
        const auto text = "A loop: Via says that this request has passed the node " +
                          client_.config().node + " before.";
        const auto sent = co_await client_.refuse(508, text);
        co_return (sent && client_.keep_alive());
    }

    /// A limit that cannot be read cannot be kept; passing the request on would take it further
    /// than its sender may have meant.
    asio::awaitable<bool> refuse_max_forwards() {
        ++worker_.counters.refusals[RequestRefusal::malformed];
        const auto sent = co_await client_.refuse(400, "Max-Forwards must be one number.");
        co_return (sent && client_.keep_alive());
    }

    /// OPTIONS or TRACE that goes no further (RFC 9110 §7.6.2).
    asio::awaitable<bool> answer_as_last_hop() {
        const auto& head = client_.head;
        std::string lines, body;
        if (head.verb == verb::trace) {
            lines = "Content-Type: message/http\r\n";
            body = traced(head.method, head.target, head.version, head.fields);
        } else {
            lines = "Allow: GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS, TRACE";
            lines.append(client_.config().forward.enabled ? ", CONNECT\r\n" : "\r\n");
        }
        client_.turn.outcome = Outcome::uncacheable;
        const auto sent = co_await client_.answer(200, lines, body);
        co_return (sent && client_.keep_alive());
    }

    /// The Max-Forwards that the next hop reads.
    void count_hop(std::uint32_t hops) {
        max_forwards_ = std::to_string(hops - 1);
        for (auto& line : client_.head.fields)
            if (line.id == field::max_forwards) line.value = max_forwards_;
    }

    std::optional<std::size_t> authenticate(std::string_view proof) const {
        const auto space = proof.find(' ');
        if (space == std::string_view::npos) return std::nullopt;
        return worker_.peers->authenticate(proof.substr(0, space), proof.substr(space + 1));
    }

    /// To the origin and back, without the store.
    asio::awaitable<bool> pass(Forward why, Outcome outcome) {
        CacheStatus status;
        status.forward = why;
        const auto route = route_to_origin(client_.config(), client_.key, absolute_form_);
        if (const auto* none = std::get_if<NoRoute>(&route)) co_return co_await refuse_route(*none);
        co_return co_await relay(client_, std::get<UpstreamTarget>(route), status, outcome);
    }

    asio::awaitable<bool> refuse_route(NoRoute reason) {
        ++worker_.counters.refusals[RequestRefusal::no_route];
        const auto text = explain(reason, client_.key.host());
        const auto sent = co_await client_.refuse(status_of(reason), text);
        co_return (sent && client_.keep_alive());
    }

    asio::awaitable<bool> answer_from_cache() {
        const auto uri = client_.key.uri();
        for (;;) {
            const auto found =
                shared_.store.find(client_.hash, uri, client_.head.fields, Clock::now());
            CacheStatus status;
            status.forward = found.other_variants ? Forward::vary_miss : Forward::uri_miss;
            auto reuse = Reuse::stale;
            if (found.response) {
                const auto& freshness = found.response->freshness;
                reuse = decide_reuse(client_.directives, freshness,
                                     found.response->residence(client_.turn.begun));
                if (usable(reuse)) co_return co_await answer_stored(*found.response, reuse);
                status.forward = reuse == Reuse::request ? Forward::request : Forward::stale;
                client_.turn.client_reload = reuse == Reuse::request;
            }
            client_.turn.cache = found.response ? CacheResult::reval : CacheResult::miss;
            if (client_.directives.only_if_cached) {
                status.detail = "only-if-cached";
                const auto sent = co_await client_.refuse(
                    504, "Not in this cache, and only-if-cached was asked for.", status);
                co_return (sent && client_.keep_alive());
            }
            // What is not stored, or only a part, has nothing to gain from the store (yet); and some
            // conditions are the origin's to evaluate (RFC 9110 §13.1.1, §13.1.4).
            if (client_.head.verb == verb::head || find(client_.head.fields, field::range) ||
                find(client_.head.fields, field::if_match) ||
                find(client_.head.fields, field::if_unmodified_since))
                co_return co_await pass(status.forward, Outcome::origin_fetch);

            auto route = route_to_origin(client_.config(), client_.key, absolute_form_);
            if (const auto* none = std::get_if<NoRoute>(&route))
                co_return co_await refuse_route(*none);

            // Requests whose answers are likely their own do not wait for others', nor others for
            // theirs.
            const auto alone = found.unshareable ||
                               find(client_.head.fields, field::authorization) ||
                               (reuse == Reuse::request && found.fill);
            auto job = make_job(found, std::move(route));
            if (!alone) {
                const auto claim = shared_.store.claim(client_.hash, uri, found, job->fill);
                if (claim.changed) continue;
                if (!claim.leader) {
                    status.collapsed = true;
                    ++worker_.counters.collapsed;
                    const auto followed = co_await follow(claim.fill, found.response, status);
                    if (followed != Followed::alone) co_return followed == Followed::keep;
                    status.collapsed = false;
                }
            }
            const auto led = co_await lead(std::move(job), found.response, status);
            co_return led == Followed::keep;
        }
    }

    std::unique_ptr<FetchJob> make_job(const Store::Found& found, OriginRoute route) {
        auto job = std::make_unique<FetchJob>(client_.head, client_.key, client_.settings);
        job->hash = client_.hash;
        job->directives = client_.directives;
        job->route = std::move(route);
        job->wakeup = std::make_shared<Wakeup>(worker_.io.get_executor());
        job->fill = std::make_shared<Fill>(job->wakeup, client_.config().limits.body_window);
        job->stale = found.response;
        job->generation = found.generation;
        job->may_ask_peers =
            client_.config().cluster && !client_.directives.no_cache && client_.directives.plain();
        return job;
    }

    asio::awaitable<Followed> lead(std::unique_ptr<FetchJob> job,
                                   std::shared_ptr<const StoredResponse> stale,
                                   CacheStatus status) {
        const auto fill = job->fill;
        Fill::Reader reader(fill, client_.wakeup, true);
        auto task = fetch(worker_, std::move(job));
        if (!worker_.fetches.spawn(std::move(task))) fill->fail(FetchError::stopping);
        co_return co_await read(reader, true, std::move(stale), status);
    }

    asio::awaitable<Followed> follow(std::shared_ptr<Fill> fill,
                                     std::shared_ptr<const StoredResponse> stale,
                                     CacheStatus status) {
        Fill::Reader reader(std::move(fill), client_.wakeup, false);
        co_return co_await read(reader, false, std::move(stale), status);
    }

    /// Waits for the fill's head, then answers from it as it grows.
    asio::awaitable<Followed> read(Fill::Reader& reader, bool leader,
                                   std::shared_ptr<const StoredResponse> stale,
                                   CacheStatus status) {
        const auto deadline = Clock::now() + kFollowAtMost;
        auto state = reader.state();
        for (;;) {
            if (leader) co_await pass_interim(reader);  // all that came before `state`
            if (state.phase != Fill::Phase::waiting || state.released) break;
            const auto in_time = co_await client_.wakeup->wait_until(deadline);
            if (!in_time) break;
            state = reader.state();
        }
        if (state.released) co_return Followed::alone;
        auto& turn = client_.turn;
        note_source(state, leader);
        if (state.phase == Fill::Phase::waiting ||
            (state.phase == Fill::Phase::failed && !state.response)) {
            const auto keep = co_await answer_failure(state, stale, status);
            co_return keep ? Followed::keep : Followed::close;
        }
        const auto& response = *state.response;
        // What another request brought is reused as from the store, or not at all (no-cache,
        // max-age=0, this client's own directives).
        if (!leader && !may_reuse(response)) co_return Followed::alone;
        if (!leader &&
            !variant_matches(response.vary_names, response.variant, client_.head.fields,
                             client_.out) &&
            !response.vary_names.empty())
            co_return Followed::alone;

        // What a 304 made good again answers everybody as a hit does, after the trip.
        status.stored = state.stored && !state.validated && leader;
        if (state.upstream_status != response.status) status.forward_status = state.upstream_status;
        if (state.source == Fill::Source::peer) {
            peer_detail_ = "PEER_" + state.peer;
            status.detail = peer_detail_;
        }
        turn.validated = state.validated;
        turn.outcome = !leader || state.validated           ? Outcome::local_hit
                       : state.source == Fill::Source::peer ? Outcome::peer_hit
                                                            : Outcome::origin_fetch;
        if (leader && !state.validated)
            turn.source = state.source == Fill::Source::peer ? Source::peer : Source::origin;
        else
            turn.source = Source::memory;
        const auto live = leader ? state.live.get() : nullptr;
        std::optional<std::chrono::seconds> age;
        if (!leader || state.validated || (live && live->has_age))
            age = current_age(response.freshness, response.residence(Clock::now()));
        // The leader's conditions were taken off its request, so they are judged here.
        const auto unchanged = (state.stored || leader) && not_modified(client_, response);
        if (unchanged) {
            const auto keep = co_await send_not_modified(client_, response, age, status);
            co_return keep ? Followed::keep : Followed::close;
        }

        turn.status = response.status;
        client_.note_type(response);
        const auto length = state.length_known ? std::optional(state.length) : std::nullopt;
        const auto framing = client_.framing(response.status, length);
        client_.compose(response.head, live, age, status, framing, state.length);
        const auto keep = co_await send_growing(client_, reader, framing);
        co_return keep ? Followed::keep : Followed::close;
    }

    /// Interim answers of the origin to the client whose request it was (RFC 9110 §15.2).
    asio::awaitable<void> pass_interim(Fill::Reader& reader) {
        const auto text = reader.take_interim();
        if (text.empty() || client_.head.version < 11) co_return;
        client_.buffers.assign(1, asio::buffer(text));
        co_await client_.connection.send(client_.buffers);
    }

    bool may_reuse(const StoredResponse& response) const {
        return usable(
            decide_reuse(client_.directives, response.freshness, response.residence(Clock::now())));
    }

    void note_source(const Fill::State& state, bool leader) {
        auto& turn = client_.turn;
        if (leader && state.source == Fill::Source::peer) {
            turn.peer = state.peer;
            turn.peer_verdict = PeerVerdict::hit;
            turn.upstream = state.peer;
        } else {
            turn.upstream = client_.key.host();
        }
        if (!leader) turn.cache = CacheResult::hit;
    }

    /// No answer from upstream: what is stored, though stale, if that is allowed (RFC 9111 §4.2.4),
    /// else an error.
    asio::awaitable<bool> answer_failure(const Fill::State& state,
                                         std::shared_ptr<const StoredResponse> stale,
                                         CacheStatus status) {
        status.detail = to_string(state.error);
        status.forward_status = state.upstream_status;
        const auto trouble = state.error == FetchError::origin_error ? OriginTrouble::error_status
                                                                     : OriginTrouble::unreachable;
        if (stale && may_serve_stale(client_.directives, stale->freshness,
                                     stale->residence(Clock::now()), trouble)) {
            client_.turn.cache = CacheResult::stale;
            co_return co_await send_stored(client_, *stale, status);
        }
        client_.turn.source = Source::none;
        const auto error = state.error == FetchError::none ? FetchError::head_timeout : state.error;
        const auto text = explain(error, client_.key.host());
        const auto sent = co_await client_.refuse(status_of(error), text, status);
        co_return (sent && client_.keep_alive());
    }

    /// From the store, at once.
    asio::awaitable<bool> answer_stored(const StoredResponse& response, Reuse reuse) {
        CacheStatus status;
        status.ttl = time_to_live(response.freshness, response.residence(client_.turn.begun));
        client_.turn.cache = reuse == Reuse::fresh ? CacheResult::hit : CacheResult::stale;
        co_return co_await send_stored(client_, response, status);
    }

    /// A peer's question: from the store, or from a fill that the origin feeds and whose head is
    /// there; else 504 with the reason, at once. Nobody is asked on its behalf.
    asio::awaitable<bool> answer_peer(std::size_t peer) {
        auto& turn = client_.turn;
        turn.from_peer = true;
        turn.peer = worker_.peers->peers[peer].node;
        client_.directives.only_if_cached = false;  // it is how peers ask, and obeyed anyway
        if (worker_.draining) co_return co_await refuse_peer(Refusal::draining);
        const auto found =
            shared_.store.find(client_.hash, client_.key.uri(), client_.head.fields, turn.begun);
        if (found.response) {
            if (!may_reuse(*found.response)) co_return co_await refuse_peer(Refusal::stale);
            gave(peer);
            co_return co_await answer_stored(*found.response, Reuse::fresh);
        }
        if (found.fill) {
            Fill::Reader reader(found.fill, client_.wakeup, false);
            const auto state = reader.state();
            const auto under_way =
                state.phase == Fill::Phase::streaming || state.phase == Fill::Phase::complete;
            if (!under_way || !state.stored || state.source != Fill::Source::origin ||
                state.validated)
                co_return co_await refuse_peer(Refusal::busy);
            if (!state.response->vary_names.empty() &&
                !variant_matches(state.response->vary_names, state.response->variant,
                                 client_.head.fields, client_.out))
                co_return co_await refuse_peer(Refusal::variant);
            if (!may_reuse(*state.response)) co_return co_await refuse_peer(Refusal::stale);
            gave(peer);
            CacheStatus status;
            status.forward = Forward::uri_miss;
            status.collapsed = true;
            const auto followed = co_await read(reader, false, nullptr, status);
            co_return followed == Followed::keep;
        }
        co_return co_await refuse_peer(found.other_variants ? Refusal::variant : Refusal::absent);
    }

    void gave(std::size_t peer) {
        if (peer < worker_.peer_records.size()) worker_.peer_records[peer].gave();
    }

    asio::awaitable<bool> refuse_peer(Refusal reason) {
        CacheStatus status;
        status.forward = Forward::uri_miss;
        status.detail = to_string(reason);
        const auto sent = co_await client_.refuse(504, to_string(reason), status);
        co_return (sent && client_.keep_alive());
    }

    ClientContext client_;
    Worker& worker_;
    Shared& shared_;
    ParseError parse_error_ = ParseError::ok;
    bool absolute_form_ = false;
    std::string peer_detail_;
    std::string max_forwards_;
};

}  // namespace

asio::awaitable<void> serve_client(Worker& worker, asio::ip::tcp::socket socket) {
    Session session(worker, std::move(socket));
    co_await session.run();
}

}  // namespace proxy
