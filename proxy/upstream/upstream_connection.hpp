#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "base/async/timer_wheel.hpp"
#include "base/memory/read_buffer.hpp"
#include "base/net/address_text.hpp"
#include "base/tls/tls_session.hpp"

namespace proxy {

/// Cancels the wait of a socket when its deadline passes.
class SocketDeadline final : public base::TimerWheel::Timer {
public:
    SocketDeadline(base::TimerWheel& wheel, boost::asio::ip::tcp::socket& socket)
        : wheel_(wheel), socket_(socket) {}

    void set(base::TimerWheel::Clock::time_point at) {
        expired_ = false;
        wheel_.arm(*this, at);
    }
    void clear() { wheel_.disarm(*this); }
    bool expired() const { return expired_; }

private:
    void expire() override {
        expired_ = true;
        boost::system::error_code ignored;
        socket_.cancel(ignored);
    }

    base::TimerWheel& wheel_;
    boost::asio::ip::tcp::socket& socket_;
    bool expired_ = false;
};

/// The login of a connection (connection_login.hpp): a 401 has asked for it, or a request has it.
enum class ConnectionLogin : std::uint8_t { none, asked, done };

/// A connection to an origin or peer. One request at a time.
struct UpstreamConnection {
    UpstreamConnection(const boost::asio::any_io_executor& executor, base::TimerWheel& wheel,
                       std::string of_target)
        : socket(executor), deadline(wheel, socket), key(std::move(of_target)) {}

    /// Like the socket's async_read_some and async_write, in the clear or under TLS. In the clear
    /// they are the socket's own operations, without a coroutine.
    boost::asio::awaitable<std::size_t> read_some(boost::asio::mutable_buffer into,
                                                  boost::system::error_code& ec);
    boost::asio::awaitable<std::size_t> write(boost::asio::const_buffer from,
                                              boost::system::error_code& ec);
    /// Writes as much as the socket takes without waiting.
    std::size_t write_now(boost::asio::const_buffer from, boost::system::error_code& ec);
    /// Reads the bytes that are there.
    base::TlsSession::Step read_now(boost::asio::mutable_buffer into, std::size_t& got);

    /// It has carried a request and its response.
    bool is_used() const { return idle_since != std::chrono::steady_clock::time_point(); }
    /// It belongs to one client connection, and never comes into the pool.
    bool is_of_client() const { return login != ConnectionLogin::none; }

    boost::asio::ip::tcp::socket socket;
    std::unique_ptr<base::TlsSession> tls;  // null: in the clear
    SocketDeadline deadline;
    base::ReadBuffer buffer;
    std::string key;  // connection_key() of its target
    boost::asio::ip::tcp::endpoint remote;
    base::AddressText address;  // remote, as address_text() writes it
    bool by_address = false;    // its target names an address, which no DNS change moves
    bool to_peer = false;
    bool on_clients_word = false;  // as UpstreamTarget::on_clients_word
    std::uint32_t mark = 0;        // of the server in a group: UpstreamTarget::mark
    ConnectionLogin login = ConnectionLogin::none;
    std::shared_ptr<const void> seat;  // one of those that limits.upstream_connections allows
    std::chrono::steady_clock::time_point idle_since{};  // the end of its last response
    /// Until then the connection rests, as bytes without a request may follow.
    std::chrono::steady_clock::time_point quiet_until{};
};
using UpstreamPtr = std::unique_ptr<UpstreamConnection>;

/// `10.0.0.7:8080` or `[::1]:80`.
base::AddressText address_text(const boost::asio::ip::tcp::endpoint& endpoint);

}  // namespace proxy
