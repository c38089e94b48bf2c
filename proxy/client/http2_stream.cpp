#include "proxy/client/http2_stream.hpp"

#include <utility>

#include "proxy/client/client_connection.hpp"
#include "proxy/client/http2_limits.hpp"
#include "proxy/http/upgrade.hpp"
#include "proxy/request/client_service.hpp"
#include "proxy/request/connect.hpp"

namespace proxy {

namespace asio = boost::asio;
using boost::beast::http::verb;
using Clock = std::chrono::steady_clock;

Http2Stream::Http2Stream(ClientService& service, ClientConnection& connection, Http2Output& output,
                         Http2Body::Windows& windows)
    : Http2Stream(service, connection, output, windows,
                  std::make_shared<base::Wakeup>(service.executor)) {}

Http2Stream::Http2Stream(ClientService& service, ClientConnection& connection, Http2Output& output,
                         Http2Body::Windows& windows, const std::shared_ptr<base::Wakeup>& wakeup)
    : body(service, windows, std::make_shared<base::Wakeup>(service.executor)),
      writer(service, output, wakeup),
      connection_(connection),
      output_(output),
      tunnel_(body, writer, std::make_shared<base::Wakeup>(service.executor)),
      transaction_{service, connection, request_, writer, stats_, wakeup},
      steps_(transaction_) {
    request_.body = &body;
    request_.inside = connection.inside();
}

void Http2Stream::begin(std::int32_t id) {
    stage_ = Stage::begun;
    unknown_protocol_ = false;
    bad_head_ = ParseError::ok;
    head.clear();
    writer.start(id);
    stats_.begin(transaction_.service.wheel.read_clock());
    request_.begin(transaction_.service.settings.share(), connection_.remote_address());
}

void Http2Stream::take_head(bool ended) {
    bad_head_ = head.finish(request_.head);
    request_.scheme = head.scheme() == "https" ? Scheme::https : Scheme::http;
    const auto known =
        head.scheme() == "https" || head.scheme() == "http" || request_.head.verb == verb::connect;
    if (bad_head_ == ParseError::ok && !known) bad_head_ = ParseError::bad_target;
    auto length = head.length();
    // RFC 9110 §8.6: a method that expects content says that there is none.
    const auto method = request_.head.verb;
    const auto expects_content =
        method == verb::post || method == verb::put || method == verb::patch;
    if (ended && !length && expects_content) length = 0;
    body.begin(id(), length, ended);
    tunnel_.begin();
    transaction_.opener = nullptr;
    if (bad_head_ == ParseError::ok && method == verb::connect) take_connect();
}

/// The request's code has a copy of the fields.
bool Http2Stream::find_room() {
    if (head.bytes() <= kHttp2FreeHead) return true;
    auto room = base::read_ahead(transaction_.service.cache.shared.windows, 2 * head.bytes());
    if (!room) return false;
    head_room_ = std::move(*room);
    return true;
}

bool Http2Stream::expects_end() const {
    const auto method = request_.head.verb;
    const auto has_none_yet =
        body.has_open_length() ? method == verb::get || method == verb::head : body.length() == 0;
    return bad_head_ == ParseError::ok && body.is_open() && has_none_yet;
}

void Http2Stream::wait_for_end() {
    stage_ = Stage::waiting_for_end;
    transaction_.service.wheel.arm(*this, Clock::now() + kHttp2WaitForEnd);
}

bool Http2Stream::stop_waiting() {
    if (stage_ != Stage::waiting_for_end) return false;
    transaction_.service.wheel.disarm(*this);
    stage_ = Stage::begun;
    return true;
}

/// A CONNECT becomes a tunnel; with a protocol, it is a handshake on the way to one (RFC 8441 §4).
void Http2Stream::take_connect() {
    transaction_.opener = &tunnel_;
    if (head.protocol().empty()) return;
    // Bytes that follow belong to the other protocol, so they are no content (RFC 8441 §4).
    if (head.length()) bad_head_ = ParseError::bad_length;
    tunnel_.ask_upgrade(request_.head, head.protocol());
    const auto wish = upgrade_wish(request_.head.fields, request_.head.version,
                                   request_.config().protocols.upgrade);
    unknown_protocol_ = wish.state == UpgradeDecision::State::none;
}

/// To the client a success would mean that the other protocol begins (RFC 8441 §4).
asio::awaitable<void> Http2Stream::refuse_protocol() {
    transaction_.note_refusal(RequestRefusal::upgrade);
    co_await transaction_.refuse(501, "The protocol of this CONNECT is not let through (upgrade).");
}

asio::awaitable<void> Http2Stream::run() {
    if (bad_head_ != ParseError::ok) return transaction_.refuse_head(bad_head_);
    if (unknown_protocol_) return refuse_protocol();
    return request_.head.verb == verb::connect ? serve_connect(transaction_) : steps_.run();
}

bool Http2Stream::serve_at_once() {
    const auto has_steps =
        bad_head_ == ParseError::ok && !unknown_protocol_ && request_.head.verb != verb::connect;
    if (!has_steps) return false;
    try {
        if (!steps_.run_at_once()) return false;
    } catch (...) {
        transaction_.service.shared.faults.note("HTTP/2 stream");
        stage_ = Stage::failed;
        return false;
    }
    stage_ = Stage::served;
    end_response();
    return true;
}

asio::awaitable<void> Http2Stream::serve() {
    auto failed = std::exchange(stage_, Stage::serving) == Stage::failed;
    try {
        if (!failed) co_await run();
    } catch (...) {
        failed = true;
        if (is_cancelled()) throw;
        transaction_.service.shared.faults.note("HTTP/2 stream");
    }
    if (failed) co_await transaction_.refuse_fault(writer.has_begun() || writer.closed());
    stage_ = Stage::served;
    end_response();
}

/// The request is served. An incomplete response ends in an error that the client notices; a
/// complete one may wait for the client's windows, for as long as a body may stand still.
void Http2Stream::end_response() {
    if (writer.closed()) return;
    if (!writer.complete()) return writer.reset(NGHTTP2_INTERNAL_ERROR);
    if (writer.has_ended()) return response_sent();
    transaction_.service.wheel.arm(*this,
                                   Clock::now() + transaction_.service.config().timeouts.body_idle);
}

void Http2Stream::response_sent() {
    // The client's side of a tunnel goes on.
    if (!body.is_open() || (is_running() && body.is_tunnel())) return;
    body.drop();
    dropped_ = {Clock::now() + kHttp2DropBody, body.received_bytes()};
    transaction_.service.wheel.arm(*this, Clock::now() + kHttp2DropIdle);
}

/// The client has not taken the response, or not ended a body that is dropped, or not ended a
/// request without content.
void Http2Stream::expire() {
    if (stage_ == Stage::waiting_for_end) {
        stage_ = Stage::begun;
        return output_.serve_late(id());
    }
    if (!writer.has_ended()) return writer.reset(NGHTTP2_CANCEL);
    const auto now = Clock::now();
    if (!dropped_.goes_on(body.received_bytes(), now) || connection_.ending())
        return writer.reset(NGHTTP2_NO_ERROR);
    transaction_.service.wheel.arm(*this, now + kHttp2DropIdle);
}

void Http2Stream::close() {
    transaction_.service.wheel.disarm(*this);
    writer.close();
    body.close();
    if (!is_running()) return;  // nobody waits for any of these
    writer.wakeup().notify();
    body.wakeup().notify();
    tunnel_.close();
}

void Http2Stream::finish() {
    if (!writer.complete()) stats_.aborted = true;
    stats_.close(transaction_.service, request_, writer);
    stats_.details.peers_asked.reset();
    body.finish();
    head_room_ = base::Charge();
}

std::size_t Http2Stream::kept_bytes() const {
    return head.kept_bytes() + body.kept_bytes() + writer.kept_bytes() + request_.kept_bytes() +
           stats_.kept_bytes();
}

void Http2Stream::give_back() {
    request_.give_back();
    head.give_back();
    body.give_back();
    writer.give_back();
    stats_.give_back();
}

}  // namespace proxy
