#include "proxy/client/http2_stream.hpp"

#include <string>

#include "proxy/client/client_connection.hpp"
#include "proxy/client/error_response.hpp"
#include "proxy/client/http2_limits.hpp"

namespace proxy {

namespace asio = boost::asio;
using boost::beast::http::verb;
using Clock = std::chrono::steady_clock;

Http2Stream::Http2Stream(Frontend& frontend, ClientConnection& connection, Http2Output& output,
                         Http2Body::Windows& windows)
    : Http2Stream(frontend, connection, output, windows,
                  std::make_shared<Wakeup>(frontend.executor)) {}

Http2Stream::Http2Stream(Frontend& frontend, ClientConnection& connection, Http2Output& output,
                         Http2Body::Windows& windows, const std::shared_ptr<Wakeup>& wakeup)
    : body(frontend, windows, wakeup),
      writer(frontend, output, wakeup),
      frontend_(frontend),
      connection_(connection),
      output_(output),
      transaction_{frontend, connection, request_, writer, books_, wakeup},
      steps_(transaction_) {
    request_.body = &body;
}

void Http2Stream::begin(std::int32_t id) {
    id_ = id;
    running_ = false;
    bad_head_ = ParseError::ok;
    head.clear();
    writer.start(id);
    books_.begin(Clock::now());
    request_.begin(frontend_.settings.share(), connection_.remote_address());
}

void Http2Stream::take_head(bool ended) {
    bad_head_ = head.finish(request_.head);
    request_.scheme = head.scheme() == "https" ? Scheme::https : Scheme::http;
    const auto known =
        head.scheme() == "https" || head.scheme() == "http" || request_.head.verb == verb::connect;
    if (bad_head_ == ParseError::ok && !known) bad_head_ = ParseError::bad_target;
    auto length = head.length();
    // RFC 9110 §8.6: a method that expects content says that there is none.
    const auto verb = request_.head.verb;
    if (ended && !length && (verb == verb::post || verb == verb::put || verb == verb::patch))
        length = 0;
    body.begin(id_, length, ended);
}

asio::awaitable<void> Http2Stream::serve() {
    auto failed = false;
    try {
        if (bad_head_ == ParseError::ok)
            co_await steps_.run();
        else
            co_await refuse_head();
    } catch (...) {
        failed = true;
        if (is_cancelled()) throw;
        frontend_.shared.faults.note("HTTP/2 stream");
    }
    if (failed) {
        books_.outcome = Outcome::error;
        if (writer.sent_bytes() > 0)
            books_.cut_short();
        else if (!writer.closed())
            co_await transaction_.refuse(
                500, "An error that is not expected; the node's log says which.");
    }
    running_ = false;
    end_response();
}

/// Refuses a head that HTTP/1.1 would not let through either.
asio::awaitable<void> Http2Stream::refuse_head() {
    ++frontend_.counters.refusals[refusal_of(bad_head_)];
    std::string text("The request was refused: ");
    text.append(to_string(bad_head_)).append(".");
    co_await transaction_.refuse(status_of(bad_head_), text);
}

/// The request is served. An incomplete response ends in an error that the client notices; a
/// complete one may wait for the client's windows, for as long as a body may stand still.
void Http2Stream::end_response() {
    if (writer.closed()) return;
    if (!writer.complete()) return reset(NGHTTP2_INTERNAL_ERROR);
    if (!writer.has_ended())
        frontend_.wheel.arm(*this, Clock::now() + frontend_.config().timeouts.body_idle);
}

void Http2Stream::expire() {
    if (!writer.has_ended()) reset(NGHTTP2_CANCEL);
}

void Http2Stream::reset(std::uint32_t code) {
    nghttp2_submit_rst_stream(output_.session(), NGHTTP2_FLAG_NONE, id_, code);
    output_.send_soon();
}

void Http2Stream::close() {
    frontend_.wheel.disarm(*this);
    writer.close();
    body.close();
}

void Http2Stream::finish() {
    if (!writer.complete()) books_.aborted = true;
    books_.close(frontend_, request_, writer);
    books_.peers_asked.reset();
}

std::size_t Http2Stream::kept_bytes() const {
    return head.kept_bytes() + body.kept_bytes() + writer.kept_bytes() + request_.kept_bytes() +
           books_.kept_bytes();
}

void Http2Stream::give_back() {
    request_.give_back();
    head.give_back();
    body.give_back();
    writer.give_back();
    books_.give_back();
}

}  // namespace proxy
