#include "tests/protocol/relay.hpp"

#include <netinet/tcp.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <utility>

#include "base/async/deadline.hpp"
#include "protocol/wire/frame.hpp"
#include "protocol/wire/wire.hpp"

namespace protocol::test {

namespace asio = boost::asio;
using asio::ip::tcp;

struct Relay::Pair {
    Pair(tcp::socket from, tcp::socket to) : dialler(std::move(from)), listener(std::move(to)) {}
    void close() {
        boost::system::error_code ignored;
        if (keep != Keep::dialler) dialler.close(ignored);
        if (keep != Keep::listener) listener.close(ignored);
    }
    tcp::socket dialler;
    tcp::socket listener;
    Keep keep = Keep::nothing;
};

Relay::Relay(asio::io_context& io, const std::string& listen, const std::string& target)
    : acceptor_(io, tcp::endpoint(asio::ip::make_address(listen), 3129)),
      target_(asio::ip::make_address(target), 3129) {
    // Connections inherit both: a dialler that is not read notices after some 100 KiB, as small
    // segments keep its own buffer from growing too.
    acceptor_.set_option(asio::socket_base::receive_buffer_size(16 << 10));
    acceptor_.set_option(asio::detail::socket_option::integer<IPPROTO_TCP, TCP_MAXSEG>(1000));
    asio::co_spawn(io, accept(), asio::detached);
}

Relay::~Relay() {
    cut();
    boost::system::error_code ignored;
    acceptor_.close(ignored);
    auto& io = static_cast<asio::io_context&>(acceptor_.get_executor().context());
    while (io.poll() > 0) io.restart();
}

void Relay::break_all(Keep keep) {
    for (const auto& pair : pairs_) {
        const auto open = pair.lock();
        if (!open) continue;
        open->keep = keep;
        open->close();
    }
}

void Relay::cut() {
    break_all(Keep::nothing);
    pairs_.clear();
}
void Relay::lose_diallers() {
    break_all(Keep::listener);
}
void Relay::lose_listeners() {
    break_all(Keep::dialler);
}

std::size_t Relay::connections() const {
    return pairs_.size();
}

asio::awaitable<void> Relay::accept() {
    for (;;) {
        auto [error, socket] = co_await acceptor_.async_accept(base::as_result);
        if (error) co_return;
        auto pair =
            std::make_shared<Pair>(std::move(socket), tcp::socket(acceptor_.get_executor()));
        pairs_.push_back(pair);
        asio::co_spawn(acceptor_.get_executor(), carry(std::move(pair)), asio::detached);
    }
}

asio::awaitable<void> Relay::carry(std::shared_ptr<Pair> pair) {
    const auto [error] = co_await pair->listener.async_connect(target_, base::as_result);
    if (error) {
        pair->close();
        co_return;
    }
    asio::co_spawn(acceptor_.get_executor(), pump(pair, true), asio::detached);
    asio::co_spawn(acceptor_.get_executor(), pump(pair, false), asio::detached);
}

asio::awaitable<void> Relay::pump(std::shared_ptr<Pair> pair, bool forth) {
    auto& from = forth ? pair->dialler : pair->listener;
    auto& to = forth ? pair->listener : pair->dialler;
    asio::steady_timer pause(from.get_executor());
    for (;;) {
        while (forth && deaf && from.is_open()) {
            pause.expires_after(std::chrono::milliseconds(1));
            co_await pause.async_wait(base::as_result);
        }
        Bytes frame(kLengthBytes);
        const auto [bad_head, head] =
            co_await asio::async_read(from, asio::buffer(frame), base::as_result);
        if (bad_head) break;
        const auto length = WireReader(base::ByteView(frame).first(head)).u32();
        frame.resize(kLengthBytes + length);
        const auto body = asio::buffer(frame) + kLengthBytes;
        const auto [bad_body, rest] = co_await asio::async_read(from, body, base::as_result);
        if (bad_body || rest != length) break;
        const auto& mangle = forth ? from_dialler : from_listener;
        const auto passed_on = mangle(std::move(frame));
        for (const auto& bytes : passed_on) {
            const auto [bad, sent] =
                co_await asio::async_write(to, asio::buffer(bytes), base::as_result);
            if (bad || sent != bytes.size()) break;
        }
    }
    pair->close();
}

Bytes flipped(Bytes frame, std::size_t index) {
    frame.at(index) ^= std::byte{1};
    return frame;
}

std::uint8_t type_of_frame(const Bytes& frame) {
    return std::to_integer<std::uint8_t>(frame.at(kLengthBytes + 1));
}

}  // namespace protocol::test
