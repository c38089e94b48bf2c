#include "protocol/link.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
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

std::string describe(const asio::ip::tcp::socket& socket) {
    error_code error;
    const auto remote = socket.remote_endpoint(error);
    if (error) return "unknown address";
    const auto address = remote.address().to_string();
    const auto host = remote.address().is_v6() ? '[' + address + ']' : address;
    return host + ':' + std::to_string(remote.port());
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
      remote_(describe(socket_)),
      heard_at_(Clock::now()) {
    error_code ignored;  // a matter of speed only
    socket_.set_option(asio::ip::tcp::no_delay(true), ignored);
}

asio::ip::address Link::remote_address() const {
    error_code error;
    const auto remote = socket_.remote_endpoint(error);
    return error ? asio::ip::address() : remote.address();
}

awaitable<Result<ByteView>> Link::read_frame(std::size_t max_bytes, Clock::time_point deadline,
                                             Error late) {
    for (;;) {
        const auto frame = input_.next(max_bytes);
        if (!frame) co_return frame.error();
        if (*frame) co_return **frame;
        const auto room = input_.prepare();
        const auto buffer = asio::buffer(room.data(), room.size());
        const auto bytes =
            co_await within(deadline, socket_.async_read_some(buffer, as_result), late);
        if (!bytes) {
            const bool ended = bytes.error() == asio::error::eof;
            co_return ended ? make_error_code(Error::connection_closed) : bytes.error();
        }
        traffic_->bytes_received += *bytes;
        input_.commit(*bytes);
    }
}

awaitable<Result<void>> Link::write(Clock::time_point deadline, Error late) {
    const auto buffer = asio::buffer(output_.data(), output_.size());
    const auto written =
        co_await within(deadline, asio::async_write(socket_, buffer, as_result), late);
    if (!written) co_return written.error();
    traffic_->bytes_sent += *written;
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

awaitable<Result<void>> Link::write_welcome(Clock::time_point deadline) {
    sealer_->seal(Welcome{}, output_);
    co_return co_await write(deadline, Error::hello_timeout);
}

awaitable<error_code> Link::run(LinkEnd& end, Clock::duration gone_after) {
    const auto executor = co_await asio::this_coro::executor;
    if (closed_because_) co_return make_error_code(*closed_because_);
    auto both = asio::experimental::make_parallel_group(
        asio::co_spawn(executor, read_loop(end, gone_after), asio::deferred),
        asio::co_spawn(executor, write_loop(end, gone_after), asio::deferred));
    const auto [order, read_exception, read_error, write_exception, write_error] =
        co_await std::move(both).async_wait(asio::experimental::wait_for_one(),
                                            asio::use_awaitable);
    error_code ignored;
    socket_.close(ignored);
    if (closed_because_) co_return make_error_code(*closed_because_);
    const bool reader_first = order[0] == 0;
    const auto& exception = reader_first ? read_exception : write_exception;
    if (exception) co_return error_of(exception);
    co_return reader_first ? read_error : write_error;
}

void Link::close(Error reason) {
    if (closed_because_) return;
    closed_because_ = reason;
    error_code ignored;
    socket_.close(ignored);
    wake_.cancel();
}

awaitable<error_code> Link::read_loop(LinkEnd& end, Clock::duration gone_after) {
    for (;;) {
        const auto silent_at = heard_at_ + gone_after;
        const auto frame = co_await read_frame(kMaxFrameBytes, silent_at, Error::peer_silent);
        if (!frame) co_return frame.error();
        // What was on its way through the event loop when the link was closed comes too late: the
        // end may have handed its place to another link.
        if (closed_because_) co_return make_error_code(*closed_because_);
        const auto message = opener_->open(*frame);
        if (!message) co_return message.error();
        heard_at_ = Clock::now();
        const auto taken = end.on_message(*message, heard_at_);
        if (!taken) co_return taken.error();
        wake();  // the answer, if there is one, goes out now
    }
}

awaitable<error_code> Link::write_loop(LinkEnd& end, Clock::duration gone_after) {
    for (;;) {
        fill_output(end);
        if (!output_.empty()) {
            const auto deadline = Clock::now() + gone_after;
            const auto written = co_await write(deadline, Error::peer_not_reading);
            if (!written) co_return written.error();
        } else if (end.finished()) {
            error_code ignored;
            socket_.shutdown(asio::ip::tcp::socket::shutdown_send, ignored);
            co_return make_error_code(Error::goodbye);
        } else {
            wake_.expires_at(end.due());
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
