#include "protocol/link.hpp"

#include <netinet/tcp.h>

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/write.hpp>
#include <boost/system/system_error.hpp>
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

/// A peer for whose messages there is no memory loses its link, and nobody else anything.
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

Link::Link(asio::ip::tcp::socket socket, Traffic& traffic)
    : socket_(std::move(socket)),
      wake_(socket_.get_executor()),
      traffic_(&traffic),
      remote_(remote_of(socket_)),
      heard_at_(Clock::now()) {
    error_code ignored;  // a matter of speed only
    socket_.set_option(asio::ip::tcp::no_delay(true), ignored);
    socket_.non_blocking(true, ignored);
}

std::string Link::remote() const {
    if (remote_.port() == 0) return "unknown address";
    const auto address = remote_.address().to_string();
    const auto host = remote_.address().is_v6() ? '[' + address + ']' : address;
    return host + ':' + std::to_string(remote_.port());
}

awaitable<Result<ByteView>> Link::read_frame(std::size_t max_bytes, Clock::time_point deadline,
                                             Error late) {
    for (;;) {
        const auto frame = input_.next(max_bytes);
        if (!frame) co_return frame.error();
        if (*frame) co_return **frame;
        const auto room = input_.prepare();
        const auto bytes = co_await receive(room, deadline, late);
        if (!bytes) {
            const bool ended = bytes.error() == asio::error::eof;
            co_return ended ? make_error_code(Error::connection_closed) : bytes.error();
        }
        traffic_->bytes_received += *bytes;
        input_.commit(*bytes);
    }
}

awaitable<Result<std::size_t>> Link::receive(std::span<std::byte> room, Clock::time_point deadline,
                                             Error late) {
    const auto buffer = asio::buffer(room.data(), room.size());
    if (deadline != Clock::time_point::max()) {
        co_return co_await within(deadline, socket_.async_read_some(buffer, as_result), late);
    }
    const auto [error, bytes] = co_await socket_.async_read_some(buffer, as_result);
    if (error) co_return error;
    co_return bytes;
}

/// What the socket takes at once of the output from there on; 0 if it has no room.
Result<std::size_t> Link::write_what_goes(std::size_t from) {
    error_code error;
    const auto bytes = socket_.write_some(asio::buffer(output_) + from, error);
    traffic_->bytes_sent += bytes;
    if (error && error != asio::error::would_block) return error;
    return bytes;
}

awaitable<Result<void>> Link::write(Clock::time_point deadline, Error late) {
    const auto at_once = write_what_goes(0);
    if (!at_once) co_return at_once.error();
    if (*at_once < output_.size()) {
        const auto rest = asio::buffer(output_) + *at_once;
        const auto written =
            co_await within(deadline, asio::async_write(socket_, rest, as_result), late);
        if (!written) co_return written.error();
        traffic_->bytes_sent += *written;
    }
    output_.clear();
    co_return Result<void>();
}

awaitable<Result<void>> Link::flush(const LinkEnd& end, Clock::duration gone_after) {
    const auto not_reading_at = Clock::now() + gone_after;
    for (std::size_t sent = 0;;) {
        const auto bytes = write_what_goes(sent);
        if (!bytes) co_return bytes.error();
        sent += *bytes;
        if (sent == output_.size()) break;
        const auto deadline = std::min(not_reading_at, silent_at(end, gone_after));
        auto room = socket_.async_wait(asio::ip::tcp::socket::wait_write, as_result);
        const auto there = co_await within(deadline, std::move(room), Error::timed_out);
        if (there) continue;
        if (there.error() != Error::timed_out) co_return there.error();
        const auto now = Clock::now();
        if (now >= silent_at(end, gone_after)) co_return make_error_code(Error::peer_silent);
        if (now >= not_reading_at) co_return make_error_code(Error::peer_not_reading);
    }
    output_.clear();
    co_return Result<void>();
}

awaitable<Result<HelloMessage>> Link::read_hello(Clock::time_point deadline) {
    const auto frame = co_await read_frame(kMaxHelloFrameBytes, deadline, Error::hello_timeout);
    if (!frame) co_return frame.error();
    co_return open_hello(*frame);
}

awaitable<Result<void>> Link::write_hello(HelloMessage message, Clock::time_point deadline) {
    seal_hello(message, output_);
    co_return co_await write(deadline, Error::hello_timeout);
}

void Link::secure(const LinkKey& sending, const LinkKey& receiving) {
    sealer_.emplace(sending);
    opener_.emplace(receiving);
}

awaitable<Result<void>> Link::read_welcome(Clock::time_point deadline) {
    const auto frame = co_await read_frame(kMaxHelloFrameBytes, deadline, Error::hello_timeout);
    if (!frame) co_return frame.error();
    if ((*frame)[1] == static_cast<std::byte>(FrameType::refusal)) {
        const auto refusal = open_hello(*frame);
        if (!refusal) co_return refusal.error();
        co_return make_error_code(std::get<Refusal>(*refusal).reason);
    }
    const auto message = opener_->open(*frame);
    if (!message) co_return message.error();
    if (!std::holds_alternative<Welcome>(*message)) {
        co_return make_error_code(Error::unexpected_frame);
    }
    heard_at_ = Clock::now();
    co_return Result<void>();
}

void Link::write_welcome() {
    sealer_->seal(Welcome{}, output_);
}

awaitable<error_code> Link::run(LinkEnd& end, Clock::duration gone_after) {
    const auto executor = co_await asio::this_coro::executor;
    if (closed_because_) co_return make_error_code(*closed_because_);
    // What is sent must arrive, also where the peer is heard elsewhere, and however seldom it
    // speaks: its kernel answers for it. Twice the time, so that where we see ourselves what is
    // wrong we say so.
    using UserTimeout = asio::detail::socket_option::integer<IPPROTO_TCP, TCP_USER_TIMEOUT>;
    const auto limit = std::chrono::ceil<std::chrono::milliseconds>(2 * gone_after).count();
    error_code ignored;
    socket_.set_option(UserTimeout(static_cast<int>(std::min<std::int64_t>(limit, 1 << 30))),
                       ignored);
    auto both = asio::experimental::make_parallel_group(
        asio::co_spawn(executor, read_loop(end), asio::deferred),
        asio::co_spawn(executor, write_loop(end, gone_after), asio::deferred));
    const auto [order, read_exception, read_error, write_exception, write_error] =
        co_await std::move(both).async_wait(asio::experimental::wait_for_one(),
                                            asio::use_awaitable);
    socket_.close(ignored);
    if (closed_because_) co_return make_error_code(*closed_because_);
    const bool reader_first = order[0] == 0;
    const auto& exception = reader_first ? read_exception : write_exception;
    if (exception) co_return error_of(exception);
    const auto& error = reader_first ? read_error : write_error;
    // The system has waited for as long as it was told to, so the peer was heard elsewhere
    // meanwhile: one that says little fills its buffers so slowly that this comes first.
    if (error == asio::error::timed_out) co_return make_error_code(Error::peer_not_reading);
    co_return error;
}

void Link::close(Error reason) {
    if (closed_because_) return;
    closed_because_ = reason;
    error_code ignored;
    socket_.close(ignored);
    wake_.cancel();
}

awaitable<error_code> Link::read_loop(LinkEnd& end) {
    for (;;) {
        const auto frame = co_await read_frame(kMaxFrameBytes, Clock::time_point::max(),
                                               Error::peer_silent);  // the writer sees to that
        if (!frame && end.finished() && frame.error() == Error::connection_closed)
            co_return make_error_code(Error::goodbye);  // it has read the last frame
        if (!frame) co_return frame.error();
        // What was on its way through the event loop when the link was closed comes too late: the
        // end may have handed its place to another link.
        if (closed_because_) co_return make_error_code(*closed_because_);
        const auto message = opener_->open(*frame);
        if (!message) co_return message.error();
        heard_at_ = Clock::now();
        const auto taken = end.on_message(*message, heard_at_);
        if (!taken) co_return taken.error();
        if (end.due() <= heard_at_) wake();  // the answer goes out now
    }
}

awaitable<error_code> Link::write_loop(LinkEnd& end, Clock::duration gone_after) {
    const auto executor = co_await asio::this_coro::executor;
    for (;;) {
        const auto silent = silent_at(end, gone_after);
        if (Clock::now() >= silent) co_return make_error_code(Error::peer_silent);
        fill_output(end);
        if (!output_.empty()) {
            const bool more = output_.size() >= kWriteBatchBytes;
            const auto written = co_await flush(end, gone_after);
            if (!written) co_return written.error();
            // However much the socket takes, others have their turn.
            if (more) co_await asio::post(executor, asio::use_awaitable);
            if (!socket_.is_open()) {
                co_return asio::error::make_error_code(asio::error::operation_aborted);
            }
        } else if (end.finished()) {
            error_code ignored;
            socket_.shutdown(asio::ip::tcp::socket::shutdown_send, ignored);
            // The other end closes when it has read it all, and the reader sees that.
            const auto at_last = Clock::now() + kFarewell;
            while (socket_.is_open() && Clock::now() < at_last) {
                wake_.expires_at(at_last);
                co_await wake_.async_wait(as_result);
            }
            co_return make_error_code(Error::goodbye);
        } else {
            if (output_.capacity() > kIdleOutputBytes) output_ = Bytes();
            wake_.expires_at(std::min(end.due(), silent));
            co_await wake_.async_wait(as_result);
            if (!socket_.is_open()) {
                co_return asio::error::make_error_code(asio::error::operation_aborted);
            }
        }
    }
}

void Link::fill_output(LinkEnd& end) {
    const auto now = Clock::now();
    while (output_.size() < kWriteBatchBytes) {
        const auto message = end.next(now);
        if (!message) return;
        sealer_->seal(*message, output_);
    }
}

}  // namespace protocol
