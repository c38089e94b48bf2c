#include "proxy/request/upload.hpp"

#include <algorithm>
#include <utility>

#include "proxy/http/response_head.hpp"
#include "proxy/request/upload_access.hpp"
#include "proxy/upstream/rewrite_response.hpp"

namespace proxy {
namespace {

namespace asio = boost::asio;
using boost::beast::http::verb;
using Clock = std::chrono::steady_clock;

void append_chunk(std::string& out, std::string_view piece) {
    append_chunk_size(out, piece.size());
    out.append(piece).append("\r\n");
}

}  // namespace

Upload::Upload(Transaction& transaction, Exchange& exchange)
    : transaction_(transaction),
      body_(*transaction.request.body),
      exchange_(exchange),
      config_(transaction.config()),
      has_body_(!body_.done()) {}

bool Upload::take_slot(const UpstreamTarget& origin) {
    slot_ = take_upload_slot(transaction_, origin);
    return slot_.has_value();
}

asio::awaitable<void> Upload::pass_on(const Head& interim) {
    if (interim.status == 100 && continued_) co_return;
    continued_ = continued_ || interim.status == 100;
    const auto& request = transaction_.request;
    const auto response =
        interim_of_origin(config_, request.site.policy.mirror, request.key, interim);
    co_await transaction_.interim(response);
}

asio::awaitable<FetchError> Upload::await_consent() {
    const auto deadline = Clock::now() + kExpectPatience;
    while (!continued_) {
        const auto error = co_await exchange_.receive_any_head(false, deadline);
        if (error == FetchError::head_timeout) break;
        if (error != FetchError::none) co_return error;
        answered_ = exchange_.head().status >= 200;
        if (answered_) co_return FetchError::none;
        co_await pass_on(exchange_.head());
    }
    if (!continued_) {
        co_await transaction_.writer.interim(100, {});
        continued_ = true;
    }
    co_return FetchError::none;
}

asio::awaitable<bool> Upload::collect(bool expects) {
    if (!kept_.find_room(transaction_.service.upstream.pool.windows())) co_return false;
    if (expects && !body_.has_come()) co_await transaction_.writer.interim(100, {});
    continued_ = true;
    for (;;) {
        pieces_.clear();
        if (!body_.take(pieces_)) {
            delivery_ = Delivery::malformed;
            co_return false;
        }
        for (const auto piece : pieces_)
            if (!kept_.collect(piece)) co_return false;
        if (body_.done()) break;
        const auto more = co_await body_.receive_more();
        if (!more) {
            delivery_ = Delivery::client_gone;
            co_return false;
        }
    }
    kept_.end_collecting();
    co_return true;
}

void Upload::keep_for_another() {
    const auto length = body_.length();
    const auto most = std::min<std::uint64_t>(length ? *length : kKeptBodyBytes, kKeptBodyBytes);
    kept_.begin(transaction_.service.upstream.pool.windows(), most);
}

/// Appends the bytes that have come from the client, framed for the origin. False when they are no
/// body.
bool Upload::take_piece(std::string& out) {
    pieces_.clear();
    if (!body_.take(pieces_)) {
        delivery_ = Delivery::malformed;
        return false;
    }
    const auto chunked = body_.has_open_length() && !is_collected();
    for (const auto piece : pieces_) {
        if (chunked)
            append_chunk(out, piece);
        else
            out.append(piece);
    }
    if (body_.done() && chunked) out.append("0\r\n\r\n");
    kept_.add(out);
    return true;
}

asio::awaitable<FetchError> Upload::send_body() {
    auto out = kept_.take();
    sent_whole_ = false;
    listen();
    for (;; out.clear()) {
        if (out.empty() && !is_collected() && !take_piece(out)) co_return FetchError::abandoned;
        const auto done = body_.done();
        std::string_view rest(out);
        while (!rest.empty()) {
            const auto idle = answered_ ? kAnsweredPatience : config_.timeouts.body_idle;
            const auto error = co_await exchange_.send_some(rest, Clock::now() + idle);
            if (error != FetchError::none) co_return error;
            if (!exchange_.heard() || (done && rest.empty())) continue;
            const auto enough = co_await hear();
            if (enough) co_return FetchError::none;
        }
        if (done) break;
        const auto more = co_await body_.receive_more();
        if (exchange_.heard()) {
            const auto enough = co_await hear();
            if (enough) co_return FetchError::none;
        } else if (!more) {
            delivery_ = Delivery::client_gone;
            co_return FetchError::abandoned;
        }
    }
    sent_whole_ = !answered_;
    co_return FetchError::none;
}

void Upload::listen() {
    exchange_.listen([this] { body_.interrupt(); });
}

/// The origin has said something before the body's end. True when no more of that is to be
/// sent.
asio::awaitable<bool> Upload::hear() {
    for (;;) {
        const auto said = exchange_.look();
        if (said == Exchange::Said::nothing) {  // a part of a head, or of TLS
            listen();
            co_return false;
        }
        exchange_.stop_listening();
        if (said == Exchange::Said::end) co_return true;
        const auto error =
            co_await exchange_.receive_any_head(transaction_.request.head.verb == verb::head,
                                                Clock::now() + config_.timeouts.origin_head);
        early_error_ = error;
        if (error != FetchError::none) co_return true;
        const auto status = exchange_.head().status;
        if (status >= 200) {
            answered_ = true;
            co_return status >= 400 || !exchange_.keep_alive();
        }
        co_await pass_on(exchange_.head());
    }
}

}  // namespace proxy
