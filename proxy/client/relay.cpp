#include "proxy/client/relay.hpp"

#include "proxy/cache/store_update.hpp"
#include "proxy/client/error_response.hpp"
#include "proxy/client/tunnel.hpp"
#include "proxy/client/upload.hpp"
#include "proxy/http/field_list.hpp"
#include "proxy/http/interim.hpp"
#include "proxy/http/methods.hpp"
#include "proxy/http/upgrade.hpp"
#include "proxy/http/validators.hpp"
#include "proxy/net/awaited_value.hpp"
#include "proxy/upstream/exchange.hpp"
#include "proxy/upstream/failure_log.hpp"
#include "proxy/upstream/origin_request.hpp"
#include "proxy/upstream/origin_trouble.hpp"
#include "proxy/upstream/request_snapshot.hpp"
#include "proxy/upstream/send_again.hpp"

namespace proxy {
namespace {

namespace asio = boost::asio;
using boost::beast::http::field;
using boost::beast::http::verb;
using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kKeptAtMost{1};
constexpr std::string_view kChunkEnd = "\r\n", kLastChunk = "0\r\n\r\n";

/// Ends an exchange when its client leaves while the origin is waited for.
class ClientWatch final : TimerWheel::Timer {
public:
    /// Both must outlive this.
    ClientWatch(ClientContext& client, Exchange& exchange) : client_(client), exchange_(exchange) {}

    void begin() { client_.frontend.wheel.arm(*this, Clock::now() + Departure::kLook); }
    void end() { client_.frontend.wheel.disarm(*this); }
    bool client_left() const { return left_; }

private:
    void expire() override {
        if (!client_.connection.has_left()) return begin();
        left_ = true;
        exchange_.abandon();
    }

    ClientContext& client_;
    Exchange& exchange_;
    bool left_ = false;
};

class Relay {
public:
    Relay(ClientContext& client, std::string upgrade)
        : client_(client),
          frontend_(client.frontend),
          config_(client.config()),
          snapshot_(client.snapshot(false)),
          target_(*snapshot_->origin()),
          asked_(frontend_.upstream, target_),
          exchange_(frontend_.upstream.pool, frontend_.upstream.head_limits()),
          watch_(client, exchange_),
          upload_(client, exchange_),
          upgrade_(std::move(upgrade)) {
        if (!upgrade_.empty()) exchange_.allow_upgrade();
        exchange_.count_into(frontend_.counters.bytes_from_origins);
        exchange_.on_interim([this](const Head& interim) { return upload_.pass_on(interim); });
    }
    const std::string& server() const { return exchange_.server(); }
    const UpstreamTarget& target() const { return target_; }
    Relay(const Relay&) = delete;
    Relay& operator=(const Relay&) = delete;

    asio::awaitable<FetchError> ask() {
        if (!asked_.allowed()) co_return FetchError::origin_down;
        asked_at_ = Clock::now();
        watch_.begin();
        const auto error = co_await put();
        watch_.end();
        client_gone_ = error != FetchError::none && watch_.client_left();
        if (!is_safe_method(client_.head.method) && may_have_taken_effect(error)) {
            const std::string_view uri = client_.key.uri();
            auto& cache = frontend_.cache.shared;
            cache.invalidate(cache.of({&uri, 1}), Clock::now());
        }
        if (!client_gone()) asked_.ended(error, exchange_.malformed());
        co_return error;
    }

private:
    asio::awaitable<FetchError> put() {
        const auto has_body = !client_.parser->is_done();
        const auto& request = client_.head;
        std::string framing;
        if (client_.parser->chunked())
            framing = "Transfer-Encoding: chunked\r\n";
        else if (const auto length = client_.parser->content_length())  // one number, as understood
            framing.append("Content-Length: ").append(std::to_string(*length)).append("\r\n");
        const auto expects = has_body && expects_continue();
        if (expects) framing.append("Expect: 100-continue\r\n");
        if (!upgrade_.empty())
            framing.append("Connection: Upgrade\r\nUpgrade: ").append(upgrade_).append("\r\n");
        const auto is_head = request.verb == verb::head;
        Exchange::Request out{origin_request(*snapshot_, config_.node, framing), is_head,
                              is_repeatable_method(request.method) && !has_body};
        if (out.may_retry) {
            const Exchange::Patience patience{Clock::now() + config_.timeouts.origin_connect,
                                              config_.timeouts.origin_head};
            co_return co_await exchange_.run(target_, out, patience);
        }
        auto error = co_await send_once(out, Kept::recent, has_body, expects);
        const Unanswered how{exchange_.reused(), exchange_.heard_answer(), exchange_.was_unread(),
                             is_repeatable_method(request.method), upload_.kept_all()};
        if (may_send_again(error, how))
            error = co_await send_once(out, Kept::none, has_body, expects);
        upload_.forget();
        co_return error;
    }

    asio::awaitable<FetchError> send_once(const Exchange::Request& out, Kept kept, bool has_body,
                                          bool expects) {
        sent_whole_ = true;
        auto error = co_await exchange_.connect(
            target_, Clock::now() + config_.timeouts.origin_connect, kept);
        if (error != FetchError::none) co_return error;
        if (has_body && exchange_.reused()) upload_.keep_for_another();
        error = co_await exchange_.send(out.head, Clock::now() + config_.timeouts.body_idle);
        if (error == FetchError::none && expects && client_.connection.input().empty()) {
            error = co_await upload_.await_consent();
            sent_whole_ = false;
            if (error != FetchError::none || upload_.answered()) co_return error;
        }
        if (error == FetchError::none && has_body) {
            watch_.end();  // the body comes from the client, who may end its side behind it
            error = co_await upload_.send_body();
            watch_.begin();
            sent_whole_ = upload_.sent_whole();
        }
        exchange_.stop_listening();
        if (error != FetchError::none) sent_whole_ = false;
        if (upload_.client_gone()) co_return FetchError::abandoned;
        if (upload_.answered() || upload_.early_error() != FetchError::none)
            co_return upload_.early_error();
        // An origin that refuses in the middle of a body has often said why before it closed.
        const auto answered = co_await exchange_.receive_head(
            out.is_head, Clock::now() + config_.timeouts.origin_head);
        co_return answered;
    }

public:
    /// The origin speaks another protocol from here on.
    bool switched() const { return exchange_.head().status == 101; }
    bool switched_unasked() const {
        return switched() && !switches_to(exchange_.head().fields, upgrade_);
    }

    asio::awaitable<bool> become_tunnel() {
        const auto& head = exchange_.head();
        std::string switching;
        append_switching(switching, head, config_.node);
        client_.parser.reset();  // no other request on this connection
        client_.transaction.status = head.status;
        client_.transaction.outcome = Outcome::uncacheable;
        client_.transaction.source = Source::origin;
        client_.buffers.assign(1, asio::buffer(switching));
        const auto sent = co_await client_.connection.send(client_.buffers);
        client_.transaction.aborted = !sent;
        if (!sent) co_return false;
        const auto upstream = exchange_.take_connection();
        co_await run_tunnel(client_, *upstream);
        co_return false;
    }

    asio::awaitable<bool> answer(CacheStatus status, Outcome outcome) {
        const auto& head = exchange_.head();
        LiveFields live;
        client_.own_head.clear();
        render_response(head, config_.node, client_.site.policy.rules(), exchange_.arrival().wall,
                        client_.own_head, live);
        client_.transaction.status = head.status;
        client_.transaction.source = Source::origin;
        if (const auto type = head.get(field::content_type))
            client_.transaction.content_type = *type;
        const auto is_head = client_.head.verb == verb::head;
        const StoringRequest request{frontend_.cache.shared.key_hasher, *snapshot_,
                                     client_.directives};
        const auto from = exchange_.received();
        const Relayed relayed{request, client_.head.verb, client_.hash, from, asked_at_};
        if (is_head) learn_from_head(frontend_.cache, relayed);
        KeptCopy copy(frontend_.cache, relayed, exchange_.content_length(), client_.own_head);
        if (!is_safe_method(client_.head.method) && head.status < 400) {
            const auto ended =
                invalidate_after(frontend_.cache.shared, client_.key, head, Clock::now());
            copy.has_invalidated(ended.count);
            if (ended.on_disk) co_await wait_until_kept();
        }
        std::optional<std::uint64_t> length;
        if (is_head) {
            if (const auto given = head.get(field::content_length))
                length = std::stoull(std::string(*given));
        } else {
            length =
                exchange_.done() ? std::optional<std::uint64_t>(0) : exchange_.content_length();
        }
        auto framing = client_.framing(head.status, length);
        if (is_head && !length) framing = Framing::none;
        std::optional<std::chrono::seconds> age;
        if (live.has_age) age = received_age(head.fields);
        client_.compose(client_.own_head, &live, age, status, framing, length.value_or(0));
        client_.transaction.outcome = outcome;
        if (!co_await client_.connection.send(client_.buffers)) {
            client_.transaction.aborted = true;
            co_return false;
        }
        if (!is_head) {
            const auto passed = co_await pass_body(framing, copy);
            if (!passed) co_return false;
        }
        copy.finish(Clock::now());
        // With half a request on it the connection would take the next one for the rest, and with
        // an answer that came before the body's end nobody knows what the origin has read of that.
        if (sent_whole_) exchange_.finish();
        co_return (framing != Framing::close && client_.keep_alive());
    }

private:
    /// Who is told that something has changed is not shown what it was before, even if this process
    /// ends at once. A disk that takes too long is not waited for.
    asio::awaitable<void> wait_until_kept() {
        const auto kept = std::make_shared<AwaitedValue<bool>>(client_.wakeup);
        frontend_.cache.shared.when_kept([kept] { kept->give(true); });
        const auto deadline = Clock::now() + kKeptAtMost;
        co_await kept->wait_until(deadline);
    }

    /// The body of the answer, as it comes. False when it was not passed as a whole.
    asio::awaitable<bool> pass_body(Framing framing, KeptCopy& copy) {
        std::string chunk;
        while (!exchange_.done()) {
            watch_.begin();
            const auto error =
                co_await exchange_.read_body(Clock::now() + config_.timeouts.body_idle);
            watch_.end();
            if (error == FetchError::abandoned) {
                client_.transaction.aborted = true;
                co_return false;
            }
            if (error != FetchError::none) {  // cut, never a short body passed as whole
                client_.transaction.cut_short();
                co_return false;
            }
            std::uint64_t bytes = 0;
            for (const auto piece : exchange_.pieces()) bytes += piece.size();
            chunk.clear();
            client_.buffers.clear();
            if (framing == Framing::chunked && bytes > 0) {
                append_chunk_size(chunk, bytes);
                client_.buffers.push_back(asio::buffer(chunk));
            }
            for (const auto piece : exchange_.pieces()) {
                copy.append(piece, Clock::now());
                client_.buffers.emplace_back(piece.data(), piece.size());
            }
            if (framing == Framing::chunked) {
                if (bytes > 0) client_.buffers.push_back(asio::buffer(kChunkEnd));
                if (exchange_.done()) client_.buffers.push_back(asio::buffer(kLastChunk));
            }
            const auto sent = co_await client_.connection.send(client_.buffers);
            client_.transaction.from.add(Source::origin, client_.book(chunk.size(), bytes));
            if (!sent) {
                client_.transaction.aborted = true;
                co_return false;
            }
        }
        co_return true;
    }

    bool expects_continue() const {
        const auto* expect = find(client_.head.fields, field::expect);
        return expect && client_.head.version >= 11 && iequals(expect->value, "100-continue");
    }

public:
    /// A 304 answers only who asked with a condition (RFC 9110 §15.4.5). What an unsafe method may
    /// have changed is forgotten all the same.
    bool unasked_304() {
        const auto& head = exchange_.head();
        if (head.status != 304 || is_conditional(client_.head.fields)) return false;
        if (!is_safe_method(client_.head.method))
            invalidate_after(frontend_.cache.shared, client_.key, head, Clock::now());
        return true;
    }
    bool client_gone() const { return client_gone_ || upload_.client_gone(); }
    bool malformed() const { return upload_.malformed(); }
    ParseError what() const { return exchange_.malformed(); }

private:
    ClientContext& client_;
    Frontend& frontend_;
    const Config& config_;
    const std::shared_ptr<const RequestSnapshot> snapshot_;
    const UpstreamTarget& target_;  // of it
    OriginRequest asked_;
    Exchange exchange_;
    ClientWatch watch_;
    Upload upload_;
    Clock::time_point asked_at_;
    const std::string upgrade_;  // the protocols to ask for; empty: none
    bool sent_whole_ = true;
    bool client_gone_ = false;
};

}  // namespace

asio::awaitable<bool> relay(ClientContext& client, CacheStatus status, Outcome outcome,
                            std::string upgrade) {
    Relay relay(client, std::move(upgrade));
    auto error = co_await relay.ask();
    client.transaction.note_server(relay.server());
    if (error == FetchError::none && relay.switched_unasked()) error = FetchError::malformed;
    if (error == FetchError::none && relay.switched()) co_return co_await relay.become_tunnel();
    if (error == FetchError::none && !relay.unasked_304())
        co_return co_await relay.answer(status, outcome);
    if (relay.malformed()) {
        const auto what = client.parser->error();
        std::string text("The request's body is malformed: ");
        text.append(to_string(what == ParseError::ok ? ParseError::bad_chunk : what)).append(".");
        co_await client.refuse(400, text);
        co_return false;
    }
    if (relay.client_gone()) {
        client.transaction.aborted = true;
        co_return false;
    }
    if (error == FetchError::none) {  // else it is counted and logged
        ++client.frontend.counters.origin_failures;
        log_failure(client.frontend.upstream.log, relay.target(), FetchError::malformed);
    }
    const auto why = error == FetchError::none ? FetchError::malformed : error;
    client.note_refused(why);
    status.detail = to_string(why);
    if (!went_forward(why)) status.forward = Forward::nowhere;
    const auto text = explain(why, relay.target().host, relay.what());
    co_return co_await client.refuse(status_of(why), text, status);
}

asio::awaitable<bool> pass(ClientContext& client, Forward why, Outcome outcome,
                           std::string upgrade) {
    CacheStatus status;
    status.forward = why;
    if (const auto none = client.site.none) co_return co_await client.refuse_without_site(*none);
    co_return co_await relay(client, status, outcome, std::move(upgrade));
}

}  // namespace proxy
