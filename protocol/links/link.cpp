#include "protocol/links/link.hpp"

#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/write.hpp>
#include <boost/system/system_error.hpp>
#include <cerrno>
#include <exception>
#include <new>
#include <utility>

namespace protocol {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;

constexpr std::size_t kWriteBatchBytes = 64 << 10;  // small frames go out together
constexpr std::chrono::seconds kFarewell{1};        // for the last frame to be read
constexpr std::size_t kIdleOutputBytes = 1 << 10;   // a link that waits keeps no more

asio::ip::tcp::endpoint remote_of(const asio::ip::tcp::socket& socket) {
    error_code error;
    const auto remote = socket.remote_endpoint(error);
    return error ? asio::ip::tcp::endpoint() : remote;
}

/// The other side has closed the connection, though bytes may be left.
bool has_left(int socket) {
    pollfd events{socket, POLLRDHUP, 0};
    return ::poll(&events, 1, 0) > 0;
}

/// When memory runs out for a peer's message, only this peer loses its link.
error_code error_of(const std::exception_ptr& exception) {
    try {
        std::rethrow_exception(exception);
    } catch (const std::bad_alloc&) {
        return make_error_code(Error::out_of_memory);
    } catch (const boost::system::system_error& error) {
        return error.code();  // cancelled between two waits
    }
}

}  // namespace

Link::Link(asio::ip::tcp::socket socket, base::TlsSide side, SSL_CTX* context)
    : socket_(std::move(socket)),
      side_(side),
      context_(context),
      wake_(socket_.get_executor()),
      remote_(remote_of(socket_)) {
    error_code ignored;  // only speed depends on it
    socket_.set_option(asio::ip::tcp::no_delay(true), ignored);
    socket_.non_blocking(true, ignored);
}

Link::~Link() {
    if (end_ != nullptr) end_->set_driver(nullptr);
}

std::string Link::remote() const {
    if (remote_.port() == 0) return "unknown address";
    const auto address = remote_.address().to_string();
    const auto host = remote_.address().is_v6() ? '[' + address + ']' : address;
    return host + ':' + std::to_string(remote_.port());
}

base::awaitable<error_code> Link::run(LinkEnd& end, base::Clock::duration gone_after,
                                      std::function<void()> settled) {
    const auto executor = co_await asio::this_coro::executor;
    if (end.closed()) co_return *end.over(base::Clock::now());
    end_ = &end;
    end.set_driver(this);
    settled_ = std::move(settled);
    // Sent bytes must be acknowledged by the peer's kernel, even where the peer shows life on the
    // other link or sends seldom. The limit is twice `gone_after`, so that a cause that this node
    // sees itself is reported first.
    using UserTimeout = asio::detail::socket_option::integer<IPPROTO_TCP, TCP_USER_TIMEOUT>;
    const auto limit = std::chrono::ceil<std::chrono::milliseconds>(2 * gone_after).count();
    error_code ignored;
    socket_.set_option(UserTimeout(static_cast<int>(std::min<std::int64_t>(limit, 1 << 30))),
                       ignored);
    const auto begin_error = co_await begin(end);
    if (begin_error) {
        end.set_driver(nullptr);
        end_ = nullptr;
        socket_.close(ignored);
        co_return end.ended() ? *end.over(base::Clock::now()) : begin_error;
    }
    auto both = asio::experimental::make_parallel_group(
        asio::co_spawn(executor, read_loop(end), asio::deferred),
        asio::co_spawn(executor, write_loop(end, gone_after), asio::deferred));
    const auto [order, read_exception, read_error, write_exception, write_error] =
        co_await std::move(both).async_wait(asio::experimental::wait_for_one(),
                                            asio::use_awaitable);
    end.set_driver(nullptr);
    end_ = nullptr;
    socket_.close(ignored);
    if (end.ended()) co_return *end.over(base::Clock::now());
    const bool reader_first = order[0] == 0;
    const auto& exception = reader_first ? read_exception : write_exception;
    if (exception) co_return error_of(exception);
    const auto& error = reader_first ? read_error : write_error;
    // The kernel has waited for the whole limit, so the peer showed life on the other link
    // meanwhile. A peer that gets few bytes fills its buffers so slowly that this limit comes
    // first.
    if (error == asio::error::timed_out) co_return make_error_code(Error::peer_not_reading);
    co_return error;
}

void Link::woken() {
    if (end_->closed()) {
        error_code ignored;
        socket_.close(ignored);
    }
    wake_.cancel();
}

/// Waits for the event that `step` names, as long as the end allows.
base::awaitable<error_code> Link::wait(LinkEnd& end, base::TlsSession::Step step) {
    const auto what = step == base::TlsSession::Step::wait_write ? asio::ip::tcp::socket::wait_write
                                                                 : asio::ip::tcp::socket::wait_read;
    const auto limit = end.limit();
    auto event = socket_.async_wait(what, base::as_result);
    const auto ready = co_await base::within(limit.at, std::move(event), limit.why);
    if (!ready) co_return ready.error();
    // OpenSSL and recv() would read from a descriptor that may be another's by now.
    if (!socket_.is_open()) co_return asio::error::make_error_code(asio::error::bad_descriptor);
    if (step == base::TlsSession::Step::wait_read) end.heard_in_hello(base::Clock::now());
    co_return error_code();
}

/// Waits for the first byte, and leaves it in the socket.
base::awaitable<base::Result<char>> Link::first_byte(LinkEnd& end) {
    for (;;) {
        const auto error = co_await wait(end, base::TlsSession::Step::wait_read);
        if (error) co_return error;
        char first = 0;
        const auto n = ::recv(socket_.native_handle(), &first, 1, MSG_PEEK | MSG_DONTWAIT);
        if (n > 0) co_return first;
        if (n == 0) co_return make_error_code(Error::connection_closed);
        if (errno != EAGAIN && errno != EINTR)
            co_return error_code(errno, boost::system::system_category());
    }
}

/// Agrees with the other side on encryption.
base::awaitable<error_code> Link::begin(LinkEnd& end) {
    auto encrypted = context_ != nullptr;
    if (encrypted && side_ == base::TlsSide::server) {
        const auto first = co_await first_byte(end);
        if (!first) co_return first.error();
        encrypted = *first == base::kTlsHandshake;  // no frame is so long
        // A handshake is most of the work of a hello, and a dialler that has given up needs none.
        if (encrypted && has_left(socket_.native_handle()))
            co_return make_error_code(Error::connection_closed);
    }
    if (encrypted) {
        tls_ = std::make_unique<base::TlsSession>(*context_, side_, socket_);
        const auto error = co_await handshake(end);
        if (error) co_return error;
    }
    end.set_encrypted(encrypted);
    co_return error_code();
}

base::awaitable<error_code> Link::handshake(LinkEnd& end) {
    auto step = tls_->handshake();
    while (base::waits(step)) {
        const auto error = co_await wait(end, step);
        if (error) co_return error;
        step = tls_->handshake();
    }
    if (step == base::TlsSession::Step::done) co_return error_code();
    // The other side has left, perhaps because it has ended or has too many connections. That says
    // nothing about its encryption.
    if (tls_->was_cut()) co_return make_error_code(Error::connection_closed);
    co_return make_error_code(tls_->found_nothing_in_common() ? Error::wrong_key
                                                              : Error::tls_failed);
}

base::awaitable<std::pair<error_code, std::size_t>> Link::read_some() {
    const auto room = input_.prepare();
    const auto buffer = asio::buffer(room.data(), room.size());
    error_code error;
    std::size_t bytes = 0;
    if (tls_) {
        // Most links are idle, so a wait comes first, in place of a read in vain.
        if (!tls_->has_pending())
            co_await socket_.async_wait(asio::ip::tcp::socket::wait_read,
                                        asio::redirect_error(asio::use_awaitable, error));
        // OpenSSL keeps the descriptor, which may be another's after the end of this socket.
        if (!error && !socket_.is_open()) error = asio::error::bad_descriptor;
        if (error) co_return std::pair(error, bytes);
        bytes = co_await base::tls_read_some(socket_, *tls_, buffer, error);
        // The frames carry tags, so an end that TLS has not announced is no attack of its own.
        if (error && tls_->was_cut()) error = asio::error::eof;
    } else {
        bytes = co_await socket_.async_read_some(buffer,
                                                 asio::redirect_error(asio::use_awaitable, error));
    }
    co_return std::pair(error, bytes);
}

base::awaitable<error_code> Link::read_loop(LinkEnd& end) {
    for (;;) {
        const auto frame = input_.next(end.greeted() ? kMaxFrameBytes : kMaxHelloFrameBytes);
        if (!frame) co_return frame.error();
        if (*frame) {
            const auto taken = hand_in(end, **frame);
            if (!taken) co_return taken.error();
            continue;
        }
        const auto [error, bytes] = co_await read_some();
        if (error == asio::error::eof && end.finished())
            co_return make_error_code(Error::goodbye);  // it has read the last frame
        if (error == asio::error::eof) co_return make_error_code(Error::connection_closed);
        if (error) co_return error;
        end.traffic().bytes_received += bytes;
        input_.commit(bytes);
        if (!end.greeted()) end.heard_in_hello(base::Clock::now());
    }
}

base::Result<void> Link::hand_in(LinkEnd& end, base::ByteView frame) {
    // A frame that was in the event loop when the link was closed is dropped, as another link may
    // have taken the peer's place.
    if (end.ended()) return {};
    secure(end);
    const auto now = base::Clock::now();
    const bool refusal = frame[1] == static_cast<std::byte>(FrameType::refusal);
    if (!opener_ || (refusal && !end.greeted())) {
        end.on_hello(open_hello(frame), now);
    } else {
        const auto message = opener_->open(frame);
        if (!message) return message.error();
        end.on_message(*message, now);
    }
    settled_();
    if (end.due() <= now) {
        wake_.cancel();  // the answer goes out now
    } else if (end.ended()) {
        return *end.over(now);
    }
    return {};
}

void Link::secure(const LinkEnd& end) {
    const auto& tags = end.tags();
    if (!tags || opener_) return;
    sealer_.emplace(tags->sending);
    opener_.emplace(tags->receiving);
}

base::awaitable<error_code> Link::write_loop(LinkEnd& end, base::Clock::duration gone_after) {
    const auto executor = co_await asio::this_coro::executor;
    for (;;) {
        fill_output(end);
        if (!output_.empty()) {
            const bool more = output_.size() >= kWriteBatchBytes;
            const auto written = co_await flush(end, gone_after);
            if (!written) co_return written.error();
            // Other handlers get their turn, even if the socket takes more.
            if (more) co_await asio::post(executor, asio::use_awaitable);
            if (end.closed()) co_return *end.over(base::Clock::now());
            continue;
        }
        if (const auto reason = end.over(base::Clock::now())) co_return *reason;
        if (end.finished()) {
            error_code ignored;
            if (tls_ && socket_.is_open()) tls_->close_notify();
            socket_.shutdown(asio::ip::tcp::socket::shutdown_send, ignored);
            // The other end closes after it has read everything, and the reader notices that.
            const auto at_last = base::Clock::now() + kFarewell;
            while (!end.ended() && base::Clock::now() < at_last) {
                wake_.expires_at(at_last);
                co_await wake_.async_wait(base::as_result);
            }
            co_return make_error_code(Error::goodbye);
        }
        if (output_.capacity() > kIdleOutputBytes) output_ = Bytes();
        wake_.expires_at(std::min(end.due(), end.limit().at));
        co_await wake_.async_wait(base::as_result);
    }
}

void Link::fill_output(LinkEnd& end) {
    const auto now = base::Clock::now();
    while (output_.size() < kWriteBatchBytes && !end.closed()) {
        const auto said = end.next(now);
        if (!said) break;
        secure(end);
        if (const auto* hello = std::get_if<HelloMessage>(&*said)) {
            seal_hello(*hello, output_);
        } else {
            sealer_->seal(std::get<Message>(*said), output_);
        }
    }
    settled_();
}

/// Writes as much of the output behind `from` as the socket takes at once. Returns 0 if it takes
/// nothing.
base::Result<std::size_t> Link::write_what_goes(std::size_t from) {
    error_code error;
    std::size_t bytes = 0;
    if (tls_ && !socket_.is_open()) {
        error = asio::error::bad_descriptor;
    } else if (tls_) {
        const auto step = tls_->write(asio::buffer(output_) + from, bytes);
        if (step == base::TlsSession::Step::failed) error = asio::error::connection_reset;
    } else {
        bytes = socket_.write_some(asio::buffer(output_) + from, error);
    }
    end_->traffic().bytes_sent += bytes;
    if (error && error != asio::error::would_block) return error;
    return bytes;
}

base::awaitable<base::Result<void>> Link::flush(const LinkEnd& end,
                                                base::Clock::duration gone_after) {
    const auto not_reading_at = base::Clock::now() + gone_after;
    for (std::size_t sent = 0;;) {
        const auto bytes = write_what_goes(sent);
        if (!bytes) co_return bytes.error();
        sent += *bytes;
        if (sent == output_.size()) break;
        const auto limit = end.limit();
        auto room = socket_.async_wait(asio::ip::tcp::socket::wait_write, base::as_result);
        const auto there = co_await base::within(std::min(not_reading_at, limit.at),
                                                 std::move(room), base::Error::timed_out);
        if (there) continue;
        if (there.error() != base::Error::timed_out) co_return there.error();
        const auto now = base::Clock::now();
        if (const auto until = end.limit(); now >= until.at) co_return make_error_code(until.why);
        if (now >= not_reading_at) co_return make_error_code(Error::peer_not_reading);
    }
    output_.clear();
    co_return base::Result<void>();
}

}  // namespace protocol
