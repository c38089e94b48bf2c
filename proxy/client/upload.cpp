#include "proxy/client/upload.hpp"

#include "proxy/http/interim.hpp"
#include "proxy/http/response_head.hpp"

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

Upload::Upload(ClientContext& client, Exchange& exchange)
    : client_(client), exchange_(exchange), config_(client.config()) {}

asio::awaitable<void> Upload::pass_on(const Head& interim) {
    if (client_.head.version < 11 || (interim.status == 100 && continued_)) co_return;
    continued_ = continued_ || interim.status == 100;
    interim_.clear();
    append_interim(interim_, interim, config_.node);
    co_await send_interim();
}

asio::awaitable<void> Upload::send_interim() {
    client_.buffers.assign(1, asio::buffer(interim_));
    co_await client_.connection.send(client_.buffers);
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
        interim_ = "HTTP/1.1 100 Continue\r\n\r\n";
        co_await send_interim();
        continued_ = true;
    }
    co_return FetchError::none;
}

asio::awaitable<FetchError> Upload::send_body() {
    auto& input = client_.connection.input();
    const auto chunked = client_.parser->chunked();
    std::string out;
    sent_whole_ = false;
    listen();
    for (;;) {
        out.clear();
        const auto consumed = client_.parser->parse_body(input.data(), [&](std::string_view piece) {
            if (piece.empty()) return;
            if (chunked)
                append_chunk(out, piece);
            else
                out.append(piece);
        });
        if (!consumed || (*consumed == 0 && input.size() > config_.limits.head)) {
            malformed_ = client_gone_ = true;
            co_return FetchError::abandoned;
        }
        input.consume(*consumed);
        const auto done = client_.parser->is_done();
        if (done && chunked) out.append("0\r\n\r\n");
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
        const auto more = co_await client_.connection.receive_more();
        if (exchange_.heard()) {
            const auto enough = co_await hear();
            if (enough) co_return FetchError::none;
        } else if (!more) {
            client_gone_ = true;
            co_return FetchError::abandoned;
        }
    }
    sent_whole_ = !answered_;
    co_return FetchError::none;
}

void Upload::listen() {
    exchange_.listen([this] { client_.connection.interrupt(); });
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
        const auto error = co_await exchange_.receive_any_head(
            client_.head.verb == verb::head, Clock::now() + config_.timeouts.origin_head);
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
