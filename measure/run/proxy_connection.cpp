#include "measure/run/proxy_connection.hpp"

#include <boost/asio/write.hpp>

#include "measure/origin/origin_request.hpp"

namespace measure {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using base::as_result;
using base::awaitable;
using Time = std::chrono::steady_clock::time_point;

constexpr std::size_t kResponseInputBytes = 64 * 1024 + 4096;  // a head at its limit, and some more
constexpr std::size_t kLeastResponseRead = 32 * 1024;          // bodies are read in few pieces

}  // namespace

ProxyConnection::ProxyConnection(tcp::socket socket) : socket_(std::move(socket)) {}

void ProxyConnection::expire(Time now) {
    if (now < deadline_) return;
    expired_ = true;
    deadline_ = Time::max();
    boost::system::error_code ignored;
    socket_.close(ignored);
}

awaitable<bool> ProxyConnection::connect(const tcp::endpoint& to, Time deadline) {
    deadline_ = deadline;
    const auto [error] = co_await socket_.async_connect(to, as_result);
    deadline_ = Time::max();
    if (error || expired_) co_return false;
    boost::system::error_code ignored;
    socket_.set_option(tcp::no_delay(true), ignored);
    co_return true;
}

awaitable<bool> ProxyConnection::read_more() {
    if (input_.size() >= kResponseInputBytes) co_return false;
    const auto room = input_.prepare(kLeastResponseRead);
    const auto [error, n] = co_await socket_.async_read_some(room, as_result);
    ended_ = error == asio::error::eof;
    input_.commit(n);
    co_return !error;
}

awaitable<Attempt> ProxyConnection::exchange(std::string_view request,
                                             const ExpectedAnswer& expected, Time deadline) {
    Attempt attempt;
    deadline_ = deadline;
    reusable_ = false;
    const auto [error, sent] = co_await asio::async_write(
        socket_, asio::buffer(request.data(), request.size()), as_result);
    // A proxy may answer and close before it has read the whole request, so the answer is read in
    // any case.
    if (error && sent == 0) {
        attempt.failure = lost();
    } else {
        co_await read_answer(expected, attempt);
    }
    deadline_ = Time::max();
    co_return attempt;
}

awaitable<void> ProxyConnection::read_answer(const ExpectedAnswer& expected, Attempt& attempt) {
    for (;;) {
        const auto head_bytes = co_await read_head(attempt);
        if (head_bytes == 0) co_return;
        proxy::ResponseParser parser(head_, limits_);
        if (expected.is_head) parser.skip_body();
        if (parser.parse_head(input_.data().substr(0, head_bytes)) != proxy::ParseError::ok) {
            attempt.failure = RequestFailure::malformed;
            co_return;
        }
        note_head(expected, attempt);
        const bool refused =
            head_.status >= 400 && head_.status < 500 && is_from_proxy_itself(head_.fields);
        const bool keep_alive = parser.keep_alive();
        input_.consume(head_bytes);
        if (head_.status < 200) continue;

        const bool right = co_await read_body(parser, expected, attempt);
        if (attempt.failure) co_return;
        if (refused) {
            attempt.failure = RequestFailure::refused;
        } else if (attempt.verified ? head_.status != 200 : head_.status >= 500) {
            attempt.failure = RequestFailure::bad_status;
        } else if (attempt.verified && !expected.is_head &&
                   (!right || attempt.body_bytes != expected.body_bytes)) {
            attempt.failure = RequestFailure::wrong_body;
        }
        reusable_ = keep_alive && !ended_ && input_.empty();
        co_return;
    }
}

/// Reads up to the end of the next head, and returns its bytes; 0 after a failure.
awaitable<std::size_t> ProxyConnection::read_head(Attempt& attempt) {
    std::size_t scanned = 0, head_bytes = 0;
    while ((head_bytes = proxy::find_head_end(input_.data(), scanned)) == 0) {
        const bool more = co_await read_more();
        if (more) continue;
        attempt.answer_began = !input_.empty();
        attempt.failure = input_.size() >= kResponseInputBytes ? RequestFailure::malformed : lost();
        co_return 0;
    }
    attempt.answer_began = true;
    co_return head_bytes;
}

/// While the input still holds the head.
void ProxyConnection::note_head(const ExpectedAnswer& expected, Attempt& attempt) const {
    attempt.status = head_.status;
    attempt.outcome = reported_outcome(head_.fields);
    attempt.node = reporting_node(head_.fields);
    if (head_.status >= 400) attempt.detail = reported_detail(head_.fields);
    const auto server = head_.get(boost::beast::http::field::server);
    attempt.verified = expected.body && (!expected.from_anywhere || server == kOriginName);
}

/// Reads the body to its end, or notes a failure. Returns false if a verified body has wrong bytes.
awaitable<bool> ProxyConnection::read_body(proxy::ResponseParser& parser,
                                           const ExpectedAnswer& expected, Attempt& attempt) {
    bool right = true;
    auto take = [&](std::string_view piece) {
        if (attempt.verified && right) {
            right = attempt.body_bytes + piece.size() <= expected.body_bytes &&
                    expected.body->matches(attempt.body_bytes, piece);
        }
        attempt.body_bytes += piece.size();
    };
    while (!parser.is_done()) {
        if (!input_.empty()) {
            const auto used = parser.parse_body(input_.data(), take);
            if (!used) {
                attempt.failure = RequestFailure::malformed;
                co_return right;
            }
            input_.consume(*used);
        }
        if (parser.is_done()) break;
        const bool more = co_await read_more();
        if (more) continue;
        if (ended_ && parser.finish_at_eof()) break;
        attempt.failure = lost();
        break;
    }
    co_return right;
}

}  // namespace measure
