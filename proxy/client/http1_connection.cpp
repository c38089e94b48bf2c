#include "proxy/client/http1_connection.hpp"

#include <spdlog/spdlog.h>

#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include "proxy/client/http2_connection.hpp"
#include "proxy/http/request_line.hpp"
#include "proxy/request/connect.hpp"
#include "proxy/request/peer_proof.hpp"
#include "proxy/tls/tls_contexts.hpp"

namespace proxy {

namespace asio = boost::asio;
using boost::beast::http::verb;

namespace {

/// An idle connection keeps as much memory for its next request.
constexpr std::size_t kIdleBytes = 4 * 1024;

/// A response up to this size is left to the kernel when the client sends nothing more. The kernel
/// holds it for a client that does not take it, beside all limits of the node.
constexpr std::uint64_t kLeftToKernel = 16 * 1024;

}  // namespace

Http1Connection::Http1Connection(ClientService& service, ClientConnection& connection)
    : service_(service),
      connection_(connection),
      reader_(service, connection_),
      writer_(connection_, reader_, request_.head),
      tunnel_(connection),
      transaction_{service, connection_, request_,
                   writer_, stats_,      std::make_shared<base::Wakeup>(service.executor),
                   &tunnel_},
      steps_(transaction_) {
    request_.body = &reader_;
    request_.scheme = connection_.scheme();
    request_.inside = connection_.inside();
    request_.begin(service.settings.share(), connection_.remote_address());
}

asio::awaitable<bool> Http1Connection::run() {
    using ReadResult = ClientConnection::ReadResult;
    const auto established = co_await establish();
    if (!established) co_return false;
    if (connection_.chose_http2()) co_return true;
    auto first = true;
    do {
        if (connection_.input().empty()) rest();
        auto head = connection_.begin_head();
        while (!head) {
            boost::system::error_code ec;
            const auto bytes = co_await connection_.read(ec);
            head = connection_.go_on_with_head(bytes, ec);
        }
        const auto received = *head;
        if (received == ReadResult::closed) {
            if (connection_.holds_response())
                co_await connection_.linger();
            else
                connection_.part();
            co_return false;
        }
        if (first && is_encrypted_peer(received)) {
            const auto secured = co_await connection_.peer_handshake(received);
            if (secured != ClientConnection::Handshake::done) co_return false;
            continue;
        }
        begin_request();
        auto error = ParseError::ok;
        if (received == ReadResult::head)
            error = reader_.parse(request_.head);
        else if (received == ReadResult::refused)
            error = connection_.refusal();
        if (std::exchange(first, false) && is_http2(error)) co_return true;
        const auto parsed = received == ReadResult::head && error == ParseError::ok;
        if (only_for_peers_ && !(parsed && proven_peer(transaction_))) {
            note_proxy_header("sends no PROXY header in front of its bytes");
            connection_.part();
            co_return false;
        }
        if (!parsed) {
            co_await refuse_unparsed(received, error);
        } else {
            auto failed = false;
            try {
                if (!serve_at_once()) co_await serve();
            } catch (...) {
                failed = true;
                if (is_cancelled()) throw;
                service_.shared.faults.note("client connection");
            }
            if (failed) {
                reader_.forget();  // nobody knows how far the request was read
                co_await transaction_.refuse_fault(writer_.sent_bytes() > 0);
            }
        }
        stats_.close(service_, request_, writer_);
        if (auto inside = tunnel_.take_intercepted()) {
            const auto secured = co_await go_on_intercepted(std::move(inside));
            if (!secured || connection_.chose_http2()) co_return secured;
            first = true;
        }
    } while (first || (writer_.may_be_followed() && !stats_.aborted));
    co_await end();
    co_return false;
}

/// A TLS handshake where clients speak clear text. After it the connection is like any other there.
bool Http1Connection::is_encrypted_peer(ClientConnection::ReadResult received) const {
    return connection_.begins_handshake(received) && service_.upstream.peers.view() &&
           service_.settings.files().tls->peers;
}

/// HTTP/2 by prior knowledge: the first bytes are its preface (RFC 9113 §3.3).
bool Http1Connection::is_http2(ParseError error) const {
    const auto& http2 = service_.config().protocols.http2;
    return error == ParseError::http2 && connection_.scheme() == Scheme::http && http2.enabled &&
           http2.cleartext && !only_for_peers_;
}

/// Reads a PROXY header and makes the TLS handshake, as configured. False when the connection is
/// over.
asio::awaitable<bool> Http1Connection::establish() {
    if (request_.config().clients.proxy_protocol && request_.requester.through_trusted_proxy()) {
        const auto good = co_await read_proxy_header();
        if (!good) co_return false;
    }
    if (connection_.scheme() != Scheme::https) co_return true;
    co_return co_await secure();
}

/// The rest of the connection is that of the requests inside a CONNECT.
asio::awaitable<bool> Http1Connection::go_on_intercepted(
    std::unique_ptr<InterceptedConnect> inside) {
    reader_.forget();
    const auto good = connection_.begin_intercepted(std::move(inside));
    if (!good) co_return false;
    request_.scheme = connection_.scheme();
    request_.inside = connection_.inside();
    request_.settings = nullptr;  // the client is to be judged anew
    co_return co_await secure();
}

/// The TLS handshake. False when the connection is over.
asio::awaitable<bool> Http1Connection::secure() {
    const auto secured = co_await connection_.handshake();
    if (secured == ClientConnection::Handshake::plain_http) co_await refuse_plain_http();
    co_return secured == ClientConnection::Handshake::done;
}

asio::awaitable<bool> Http1Connection::read_proxy_header() {
    using Read = ClientConnection::ProxyHeaderRead;
    const auto read = co_await connection_.receive_proxy_header();
    // A peer at an address of the proxies sends no header. The proof in each of its requests is as
    // good; nothing else is served without the header.
    only_for_peers_ = read == Read::missing && service_.upstream.peers.view() &&
                      connection_.scheme() == Scheme::http;
    if (read != Read::good && !only_for_peers_) {
        if (read == Read::missing)
            note_proxy_header("sends no PROXY header in front of its bytes");
        else if (read == Read::bad)
            note_proxy_header("sends a PROXY header that is malformed, cut off or late");
        else if (read == Read::nothing)  // a look whether the port is open
            ++service_.counters.refusals[RequestRefusal::proxy_header];
        co_return false;
    }
    request_.requester.settle(request_.config(), connection_.remote_address());
    co_return true;
}

/// The connection closes without a response, so the log alone shows the cause.
void Http1Connection::note_proxy_header(std::string_view what) {
    ++service_.counters.refusals[RequestRefusal::proxy_header];
    const auto& proxy = request_.requester.hop_text();
    if (const auto more = service_.logs.proxy_header.admit(proxy, std::chrono::steady_clock::now()))
        spdlog::warn(
            "the trusted proxy {} {}: its connection closes (clients.proxy_protocol takes versions "
            "1 and 2){}",
            proxy, what, *more);
}

asio::awaitable<void> Http1Connection::refuse_plain_http() {
    begin_request();
    std::string text("This port speaks TLS: ask for https://.");
    if (const auto* inside = connection_.inside())
        text =
            "In a tunnel to " + inside->authority() + " the node speaks TLS (forward.intercept).";
    co_await transaction_.refuse(400, text);
    stats_.close(service_, request_, writer_);
    co_await connection_.linger();
}

bool Http1Connection::serve_at_once() {
    return request_.head.verb != verb::connect && steps_.run_at_once();
}

asio::awaitable<void> Http1Connection::serve() {
    if (request_.head.verb != verb::connect) return steps_.run();
    // No request follows, whatever the response: after a refusal, bytes meant for the tunnel may be
    // on their way, and must not be read as a request.
    connection_.retire();
    return serve_connect(transaction_);
}

void Http1Connection::begin_request() {
    request_.begin(service_.settings.share(), connection_.remote_address());
    stats_.begin(service_.wheel.read_clock());
    reader_.forget();
    writer_.start();
}

/// Keeps the request line of a refused request for the access log. `bytes` stay in place until the
/// request ends.
void Http1Connection::show_line(std::string_view bytes) {
    const auto shown = shown_request_line(bytes);
    request_.head.method = shown.method;
    request_.head.target = shown.target;
}

/// Responds to bytes that are no request, or did not come in time. The node cannot find where the
/// next request begins, so the connection closes.
asio::awaitable<void> Http1Connection::refuse_unparsed(ClientConnection::ReadResult received,
                                                       ParseError error) {
    using ReadResult = ClientConnection::ReadResult;
    reader_.forget();
    if (received == ReadResult::timed_out) {
        ++service_.counters.refusals[RequestRefusal::timeout];
        co_await transaction_.refuse(408, "The request's head did not come in time.");
    } else {
        co_await transaction_.refuse_head(error);
    }
    show_line(received == ReadResult::head ? connection_.head_bytes() : connection_.input().data());
}

/// The client sends no further request, and nothing of this one is unread, so a close at once loses
/// nothing that it has to say. That saves a wait. Some clients send a line end behind a body, which
/// a close would answer by a reset.
bool Http1Connection::closes_at_once() {
    const auto& head = request_.head;
    const auto has_no_body =
        (head.verb == verb::get || head.verb == verb::head) && !reader_.has_body();
    const auto all_read = has_no_body && reader_.says_close() && connection_.input().empty();
    if (!all_read || connection_.encrypted() || connection_.response_bytes() > kLeftToKernel)
        return false;
    boost::system::error_code ec;
    const auto unread = connection_.socket().available(ec);
    // Earlier responses may wait there, too.
    return !ec && unread == 0 &&
           static_cast<std::uint64_t>(connection_.held_by_kernel()) <= kLeftToKernel;
}

/// Ends the connection after its last response.
asio::awaitable<void> Http1Connection::end() {
    if (stats_.aborted) {
        // To HTTP/1.0 a plain end would mean that the body is whole.
        if (request_.head.version < 11) connection_.reset();
    } else if (!connection_.broken() && !closes_at_once()) {
        co_await connection_.linger(reader_.is_unfinished());
    }
}

/// Between two requests, before anything of the next one has come: memory that the last request has
/// left behind is given back if it is more than kIdleBytes. Less is kept for the next request.
void Http1Connection::rest() {
    stats_.details.peers_asked.reset();
    const auto kept = connection_.kept_bytes() + request_.kept_bytes() + writer_.kept_bytes() +
                      stats_.kept_bytes();
    if (kept <= kIdleBytes) return;
    reader_.forget();
    request_.give_back();
    connection_.give_back();
    writer_.give_back();
    stats_.give_back();
}

namespace {

asio::awaitable<void> serve_connection(ClientService& service,
                                       std::unique_ptr<ClientConnection> connection) {
    auto http1 = std::make_unique<Http1Connection>(service, *connection);
    const auto is_http2 = co_await http1->run();
    http1.reset();
    if (!is_http2) co_return;
    // The preface was taken for a head, if it did not come by TLS.
    std::string received(connection->head_bytes());
    received.append(connection->input().data());
    connection->give_back();
    connection->input().clear();
    co_await serve_http2(service, *connection, received);
}

}  // namespace

asio::awaitable<void> serve_client(ClientService& service, AcceptedConnection&& client) {
    return serve_connection(service,
                            std::make_unique<ClientConnection>(service, std::move(client)));
}

asio::awaitable<void> serve_intercepted(ClientService& service, AcceptedConnection client,
                                        std::unique_ptr<InterceptedConnect> inside) {
    auto connection = std::make_unique<ClientConnection>(service, std::move(client));
    if (connection->begin_intercepted(std::move(inside)))
        co_await serve_connection(service, std::move(connection));
}

}  // namespace proxy
