#include "proxy/request/relay.hpp"

#include <algorithm>
#include <limits>
#include <memory>
#include <utility>

#include "base/async/awaited_value.hpp"
#include "base/text/number.hpp"
#include "proxy/fetch/store_update.hpp"
#include "proxy/http/field_list.hpp"
#include "proxy/http/hop_by_hop.hpp"
#include "proxy/http/interim.hpp"
#include "proxy/http/methods.hpp"
#include "proxy/http/min_age.hpp"
#include "proxy/http/response_head.hpp"
#include "proxy/http/upgrade.hpp"
#include "proxy/http/validators.hpp"
#include "proxy/request/response_from_cache.hpp"
#include "proxy/request/tunnel.hpp"
#include "proxy/request/upload_access.hpp"
#include "proxy/rewrite/head_rewrite.hpp"
#include "proxy/upstream/failure_log.hpp"
#include "proxy/upstream/origin_trouble.hpp"
#include "proxy/upstream/rewrite_response.hpp"
#include "proxy/upstream/send_again.hpp"

namespace proxy {

namespace asio = boost::asio;
using boost::beast::http::field;
using boost::beast::http::verb;

namespace {

/// A client waits so long for an invalidation that the disk has to note.
constexpr std::chrono::seconds kKeptAtMost{1};

/// The date of a page does not change when the links in it do, because another mirror has moved.
std::shared_ptr<const RequestSnapshot> snapshot_without_date(Request& request) {
    const auto* const mirror = request.site.policy.mirror;
    auto& fields = request.head.fields;
    if (mirror && mirror->links && is_safe_method(request.head.method))
        std::erase_if(fields,
                      [](const Field& line) { return line.id == field::if_modified_since; });
    return request.snapshot(false);
}

/// Of a group, the server that knows the login.
std::optional<std::uint32_t> server_of_login(const Request& request) {
    if (!request.has_own_upstream() || request.own_upstream.connection->mark == 0)
        return std::nullopt;
    return request.own_upstream.connection->mark;
}

}  // namespace

Relay::Relay(Transaction& transaction, std::string upgrade, ResponseFromCache* stale)
    : transaction_(transaction),
      service_(transaction.service),
      request_(transaction.request),
      snapshot_(snapshot_without_date(request_)),
      repeatable_(is_repeatable_method(request_.head.method) && request_.body->done()),
      origin_permit_(service_.upstream, *snapshot_->origin(),
                     {false, repeatable_, server_of_login(request_)}),
      exchange_(service_.upstream.pool, service_.upstream.head_limits()),
      watch_(transaction, exchange_),
      upload_(transaction, exchange_),
      upgrade_(std::move(upgrade)),
      stale_(stale) {
    auto& terms = exchange_.terms();
    terms.may_upgrade = !upgrade_.empty();
    if (request_.take_own_upstream()) terms.owned = &request_.own_upstream.connection;
    terms.logs_in = request_.is_logged_in();
    terms.waits_for_late_packets = !is_repeatable_method(request_.head.method);
    terms.received_bytes = &service_.counters.bytes_from_origins;
    terms.on_interim = [this](const Head& interim) { return upload_.pass_on(interim); };
}

asio::awaitable<void> Relay::run(CacheStatus status, Outcome outcome) {
    if (upload_.has_body() && !upload_.take_slot(*snapshot_->origin()))
        co_return co_await refuse_upload(transaction_);
    if (backs_off()) {
        co_await stale_->stand_in(FetchError::backed_off, 0);
        co_return;
    }
    if (upload_.has_body() && request_.body->has_open_length() && origin_permit_.is_http10()) {
        const auto collected = co_await upload_.collect(expects_continue());
        if (!collected) co_return co_await refuse_open_length(status);
    }
    auto error = co_await ask();
    transaction_.stats.details.note_server(exchange_.server());
    const auto is_head = request_.head.verb == verb::head;
    const auto why = trouble(error);
    const auto stands_in = why != FetchError::none && stale_ && is_head && stale_->stands_in(why);
    if (error == FetchError::none && is_head) {
        const auto& head = exchange_.head();
        service_.upstream.note_pause(
            *snapshot_, {head, exchange_.arrival(), Clock::now() - sent_at_}, stands_in);
    }
    if (stands_in) {
        const auto answered = error == FetchError::none ? exchange_.head().status : 0;
        if (error == FetchError::none) exchange_.finish();
        co_await stale_->stand_in(why, answered);
        co_return;
    }
    if (error == FetchError::none && switched_unasked()) error = FetchError::malformed;
    if (error == FetchError::none) error = rewrite();
    if (error == FetchError::none && switched()) co_return co_await become_tunnel();
    if (error == FetchError::none && !unasked_304()) co_return co_await respond(status, outcome);
    co_await refuse(error, status);
}

/// A HEAD gets the stored response at once, as the origin wants fewer requests.
bool Relay::backs_off() const {
    return stale_ && request_.head.verb == verb::head &&
           stale_->stands_in(FetchError::backed_off) &&
           service_.upstream.leave_after_pause(*snapshot_) == OriginHealth::Grant::no;
}

/// Gives the response of a mirrored origin its form for clients.
FetchError Relay::rewrite() {
    if (!request_.site.policy.mirror) return FetchError::none;
    const auto* const sent = find(request_.head.fields, field::if_none_match);
    const auto url = snapshot_->url_at_origin();
    return rewrite_response(
        service_.upstream, *snapshot_,
        {url, request_.head.verb == verb::head, sent ? sent->value : std::string_view()},
        exchange_);
}

/// The head announces a part of a body that can only be rewritten as a whole. Then the request goes
/// out once more without its range.
bool Relay::goes_on_without_range() {
    const auto* const mirror = request_.site.policy.mirror;
    if (!mirror || !repeatable_ ||
        !is_part_to_rewrite(*mirror, exchange_.head(), request_.key.path()))
        return false;
    std::erase_if(request_.head.fields, [](const Field& line) {
        return line.id == field::range || line.id == field::if_range;
    });
    snapshot_ = request_.snapshot(false);
    return true;
}

/// The failure of the origin that a stored response may hide: that of the request, or a status.
FetchError Relay::trouble(FetchError error) const {
    if (error != FetchError::none) return error;
    const auto status = exchange_.head().status;
    const auto failed = request_.site.policy.takes_for_failure(status) || is_origin_trouble(status);
    return failed ? FetchError::origin_error : FetchError::none;
}

asio::awaitable<FetchError> Relay::ask() {
    if (!origin_permit_.allowed()) {
        request_.own_upstream.connection.reset();  // the next request may go to another server
        co_return origin_permit_.why_not();
    }
    sent_at_ = Clock::now();
    watch_.begin();
    const auto error = co_await put();
    watch_.end();
    if (error == FetchError::none) origin_permit_.spoke(exchange_.head().version);
    client_gone_ = error != FetchError::none && watch_.client_left();
    if (!is_safe_method(request_.head.method) && may_have_taken_effect(error)) {
        const std::string_view uri = request_.key.uri();
        auto& cache = service_.cache.shared;
        cache.invalidate_everywhere(cache.of({&uri, 1}), Clock::now());
    }
    if (!client_gone())
        origin_permit_.ended(error, exchange_.malformed(),
                             error == FetchError::none ? exchange_.head().status : 0);
    co_return error;
}

/// The fields of framing and connection on the way to the origin.
std::string Relay::own_lines(bool expects) const {
    std::string lines;
    if (upload_.has_body() && request_.body->has_open_length() && !upload_.length())
        lines = "Transfer-Encoding: chunked\r\n";
    else if (const auto length = upload_.length())  // one number, as understood
        lines.append("Content-Length: ").append(std::to_string(*length)).append("\r\n");
    if (expects) lines.append("Expect: 100-continue\r\n");
    if (!upgrade_.empty())
        lines.append("Connection: Upgrade\r\nUpgrade: ").append(upgrade_).append("\r\n");
    return lines;
}

/// To the servers of a group one after the other, as far as the request allows it. One that cannot
/// be repeated stays with the first server that it was sent to: its body is gone from here, and the
/// server may have executed it.
asio::awaitable<FetchError> Relay::put() {
    const auto latest = Clock::now() + config().timeouts.origin_connect;
    for (;;) {
        const auto ended = co_await put_once(origin_permit_.connect_by(latest));
        const auto status = ended == FetchError::none ? exchange_.head().status : 0;
        const auto error = judged_by_parent(origin_permit_.target(), ended, status);
        note_head(exchange_, error);
        if (error == FetchError::none && goes_on_without_range()) {
            exchange_.finish();
            continue;
        }
        if (watch_.client_left() || client_gone() || begun_ ||
            !origin_permit_.goes_on_after(error, status))
            co_return error;
        exchange_.finish();
    }
}

asio::awaitable<FetchError> Relay::put_once(Clock::time_point connect_by) {
    const auto expects = upload_.has_body() && !upload_.is_collected() && expects_continue();
    const auto& target = origin_permit_.target();
    exchange_.trace(open_origin_span(*snapshot_, target));
    const auto context = sent_context(snapshot_->trace, exchange_.span());
    Exchange::Request out{origin_request(*snapshot_, target, name_in_via(config(), target),
                                         own_lines(expects), context),
                          request_.head.verb == verb::head, repeatable_};
    if (out.may_retry) {
        const Exchange::Patience patience{connect_by, config().timeouts.origin_head};
        const auto open = origin_permit_.open();
        co_return co_await exchange_.run(target, out, patience);
    }
    auto error = co_await send_once(out, ConnectionReuse::recent, connect_by, expects);
    const BrokenExchange how{exchange_.reused(), exchange_.heard_answer(), exchange_.was_unread(),
                             is_repeatable_method(request_.head.method), upload_.kept_all()};
    if (may_send_again(error, how))
        error = co_await send_once(out, ConnectionReuse::none,
                                   Clock::now() + config().timeouts.origin_connect, expects);
    upload_.forget();
    co_return error;
}

asio::awaitable<FetchError> Relay::send_once(const Exchange::Request& out, ConnectionReuse kept,
                                             Clock::time_point connect_by, bool expects) {
    sent_whole_ = true;
    auto error = co_await exchange_.connect(origin_permit_.target(), connect_by, kept);
    if (error != FetchError::none) co_return error;
    if (upload_.has_body() && exchange_.reused()) upload_.keep_for_another();
    begun_ = true;
    error = co_await exchange_.send(out.head, Clock::now() + config().timeouts.body_idle);
    if (error == FetchError::none && expects && !request_.body->has_come()) {
        error = co_await upload_.await_consent();
        sent_whole_ = false;
        if (error != FetchError::none || upload_.answered()) co_return error;
    }
    if (error == FetchError::none && upload_.has_body()) {
        watch_.end();  // the body comes from the client, which may end its side behind it
        error = co_await upload_.send_body();
        watch_.begin();
        sent_whole_ = upload_.sent_whole();
        upload_.give_slot_back();
    }
    exchange_.stop_listening();
    if (error != FetchError::none) sent_whole_ = false;
    if (upload_.client_gone()) co_return FetchError::abandoned;
    if (upload_.answered() || upload_.early_error() != FetchError::none)
        co_return upload_.early_error();
    // An origin that refuses in the middle of a body has often said why before it closed.
    const auto answered =
        co_await exchange_.receive_head(out.is_head, Clock::now() + config().timeouts.origin_head);
    co_return answered;
}

bool Relay::expects_continue() const {
    const auto* expect = find(request_.head.fields, field::expect);
    return expect && request_.head.version >= 11 && iequals(expect->value, "100-continue");
}

/// A 101 that was not requested; or a success that the client would take for one.
bool Relay::switched_unasked() const {
    const auto& head = exchange_.head();
    if (switched()) return !switches_to(head.fields, upgrade_);
    return !upgrade_.empty() && head.status < 300 && transaction_.opener->opens_by_success();
}

/// The origin speaks another protocol from here on.
asio::awaitable<void> Relay::become_tunnel() {
    const auto switching = switching_response(exchange_.head(), config().node);
    const auto fields = transaction_.edited_interim(switching);
    const auto upstream = exchange_.take_connection();
    co_await run_tunnel(transaction_, *upstream, switching.status, fields);
}

/// The head of the response, apart from its fields.
ResponseHead Relay::response_head() const {
    const auto& head = exchange_.head();
    std::optional<std::uint64_t> length;
    if (request_.head.verb != verb::head) {
        length = exchange_.done() ? std::optional<std::uint64_t>(0) : exchange_.content_length();
    } else if (const auto stated = head.get(field::content_length)) {
        length = base::parse_number(*stated);
    }
    return transaction_.head(head.status, {}, length);
}

asio::awaitable<void> Relay::respond(CacheStatus status, Outcome outcome) {
    const auto& head = exchange_.head();
    auto& stats = transaction_.stats;
    auto& fields = transaction_.writer.fields();
    const auto has_changed = !is_safe_method(request_.head.method) && head.status < 400;
    if (may_bring_content(request_.head.method, head.status)) {
        const auto why =
            transaction_.why_too_young(head.status, head.fields, exchange_.arrival().wall);
        if (why && has_changed) co_await invalidate();
        if (why) co_return co_await transaction_.refuse_too_young(*why);
    }
    LiveFields live;
    const StoredFields stored(head.fields, request_.site.policy.rules());
    render_response(head, config().node, stored, exchange_.arrival().wall, fields, live);
    stats.source = Source::origin;
    stats.details.rewritten = exchange_.is_rewritten();
    if (const auto type = head.get(field::content_type)) stats.details.content_type = *type;
    const StoringRequest storing{service_.cache.shared.key_hasher, *snapshot_, request_.directives};
    const auto from = exchange_.received();
    const RelayedExchange relayed{storing, request_.head.verb, request_.hash, from, sent_at_};
    if (request_.head.verb == verb::head && !exchange_.is_of_client())
        learn_from_head(service_.cache, relayed);
    KeptCopy copy(service_.cache, relayed, exchange_.content_length(), fields);
    if (has_changed) copy.has_invalidated(co_await invalidate());
    std::optional<std::chrono::seconds> age;
    if (live.has_age) age = received_age(head.fields);
    // With its connection the client's login ends.
    if (exchange_.is_of_client() && !exchange_.keep_alive() && request_.head.version < 20)
        transaction_.connection.retire();
    const auto out = response_head();
    transaction_.begin(out, &live, age, status);
    stats.outcome = outcome;
    co_await transaction_.send_head();
    if (stats.aborted) co_return;
    if (out.has_body) {
        const auto passed = co_await pass_body(copy);
        if (!passed) co_return;
    }
    copy.finish(Clock::now());
    // With half a request on it the connection would take the next one for the rest, and after a
    // response that came before the body's end nobody knows how much the origin has read. An origin
    // that has read an Upgrade may have changed its mind about what follows.
    if (sent_whole_ && upgrade_.empty()) exchange_.finish();
}

/// Ends what the request has changed. Returns the number of its URIs and groups.
asio::awaitable<std::size_t> Relay::invalidate() {
    const auto ended = invalidate_after(service_.cache.shared, config().rules, request_.key,
                                        exchange_.head(), Clock::now());
    if (ended.on_disk) co_await wait_until_kept();
    co_return ended.count;
}

/// A client that learns of a change does not see the state before it, even if this process ends at
/// once. A disk that takes too long is not waited for.
asio::awaitable<void> Relay::wait_until_kept() {
    const auto kept = std::make_shared<base::AwaitedValue<bool>>(transaction_.wakeup);
    service_.cache.shared.store.when_kept([kept] { kept->give(true); });
    const auto deadline = Clock::now() + kKeptAtMost;
    co_await kept->wait_until(deadline);
}

/// Passes the body of the response as it comes. False when it was not passed as a whole.
asio::awaitable<bool> Relay::pass_body(KeptCopy& copy) {
    auto& stats = transaction_.stats;
    while (!exchange_.done()) {
        watch_.begin();
        const auto error = co_await exchange_.read_body(Clock::now() + config().timeouts.body_idle);
        watch_.end();
        if (error == FetchError::abandoned) {
            stats.aborted = true;
            co_return false;
        }
        if (error != FetchError::none) {  // a short body never passes as whole
            stats.cut_short();
            co_return false;
        }
        for (const auto bytes : exchange_.pieces()) copy.append(bytes, Clock::now());
        const auto sent = co_await pass_pieces();
        if (!sent) {
            stats.aborted = true;
            co_return false;
        }
    }
    co_return true;
}

/// Sends the bytes that have been read: together, or in parts as large as the client's bandwidth
/// asks for. False: the client is gone.
asio::awaitable<bool> Relay::pass_pieces() {
    auto& writer = transaction_.writer;
    auto* const share = request_.share.get();
    const auto most = share ? share->piece() : std::numeric_limits<std::uint64_t>::max();
    const auto& pieces = exchange_.pieces();
    std::size_t at = 0, taken = 0;  // the next piece, and the bytes of it that are gone
    do {
        BodyPiece part;
        auto& buffers = writer.next_piece();
        while (at < pieces.size() && part.bytes < most) {
            auto bytes = std::string_view(pieces[at]).substr(taken);
            bytes = bytes.substr(0, std::min<std::uint64_t>(bytes.size(), most - part.bytes));
            buffers.emplace_back(bytes.data(), bytes.size());
            part.bytes += bytes.size();
            taken += bytes.size();
            if (taken == pieces[at].size()) {
                ++at;
                taken = 0;
            }
        }
        part.end = exchange_.done() && at == pieces.size();
        const auto before = writer.body_bytes();
        const auto sent = co_await writer.write(part);
        const auto bytes = writer.body_bytes() - before;
        transaction_.stats.from.add(Source::origin, bytes);
        if (!sent) co_return false;
        if (!share) continue;
        share->sent(bytes, Clock::now());
        const auto goes_on = co_await transaction_.wait_for_bandwidth();
        if (!goes_on) co_return false;
    } while (at < pieces.size());
    co_return true;
}

/// A 304 answers only a request with a condition (RFC 9110 §15.4.5). Content that an unsafe method
/// may have changed is forgotten all the same.
bool Relay::unasked_304() {
    const auto& head = exchange_.head();
    if (head.status != 304 || is_conditional(request_.head.fields)) return false;
    if (!is_safe_method(request_.head.method))
        invalidate_after(service_.cache.shared, config().rules, request_.key, head, Clock::now());
    return true;
}

/// `error`: none where the response makes no sense.
asio::awaitable<void> Relay::refuse(FetchError error, CacheStatus status) {
    if (upload_.malformed()) {
        const auto what = request_.body->error();
        std::string text("The request's body is malformed: ");
        text.append(to_string(what == ParseError::ok ? ParseError::bad_chunk : what)).append(".");
        co_await transaction_.refuse(400, text);
        co_return;
    }
    if (client_gone()) {
        transaction_.stats.aborted = true;
        co_return;
    }
    if (error == FetchError::none) {  // else it is counted and logged
        ++service_.counters.origin_failures;
        log_failure(service_.upstream.log, origin_permit_.target(), FetchError::malformed);
        error = FetchError::malformed;
    }
    status.detail = to_string(error);
    if (!went_forward(error)) status.forward = Forward::nowhere;
    co_await transaction_.refuse_fetch(error, request_.key.authority(),
                                       request_.site.asked_server(), status, exchange_.malformed());
}

/// The origin knows no chunks, and the body is too long to be kept until its length shows. A client
/// that states the length may send it (RFC 9110 §15.5.12).
asio::awaitable<void> Relay::refuse_open_length(CacheStatus status) {
    if (upload_.client_gone()) co_return co_await refuse(FetchError::abandoned, status);
    transaction_.note_refusal(RequestRefusal::version);
    co_await transaction_.refuse(411,
                                 "The origin speaks HTTP/1.0, so a request body of this size needs "
                                 "a Content-Length.");
}

asio::awaitable<void> relay_to_origin(Transaction& transaction, Forward why, Outcome outcome,
                                      std::string upgrade, ResponseFromCache* stale) {
    CacheStatus status;
    status.forward = why;
    if (const auto none = transaction.request.site.none) {
        co_await transaction.refuse_without_site(*none);
        co_return;
    }
    Relay relay(transaction, std::move(upgrade), stale);
    co_await relay.run(status, outcome);
}

}  // namespace proxy
