#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "base/tls/tls_session.hpp"
#include "proxy/http/field_block.hpp"
#include "proxy/request/intercepted_connect.hpp"

namespace proxy {

/// One of the two ends of a tunnel: a socket, in the clear or by TLS, or an HTTP/2 stream. One
/// thread. A coroutine may wait to read, another to write, and a third for a reset.
class TunnelSide {
public:
    using Step = base::TlsSession::Step;

    TunnelSide() = default;
    TunnelSide(const TunnelSide&) = delete;
    TunnelSide& operator=(const TunnelSide&) = delete;
    virtual ~TunnelSide() = default;

    // One read or write without a wait; see base::TlsSession.
    virtual Step read(boost::asio::mutable_buffer into, std::size_t& got) = 0;
    virtual Step write(boost::asio::const_buffer from, std::size_t& sent) = 0;
    /// read() would give something that no wait notices.
    virtual bool has_pending() const = 0;
    /// Waits for the event that `step` names. False: the wait was cancelled.
    virtual boost::asio::awaitable<bool> wait(Step step) = 0;
    /// Waits until the other side has broken the connection. False: the wait was cancelled.
    virtual boost::asio::awaitable<bool> wait_for_reset() = 0;
    /// Ends all waits.
    virtual void cancel() = 0;
    /// Ends this direction; the other goes on.
    virtual void end() = 0;
    /// Breaks the connection, so that the other side notices.
    virtual void reset() = 0;
};

/// A socket, which outlives this, as does `tls`.
class SocketSide : public TunnelSide {
public:
    /// `tls`: null in the clear.
    SocketSide(boost::asio::ip::tcp::socket& socket, base::TlsSession* tls)
        : socket_(socket), tls_(tls) {}

    Step read(boost::asio::mutable_buffer into, std::size_t& got) override;
    Step write(boost::asio::const_buffer from, std::size_t& sent) override;
    bool has_pending() const override { return tls_ && tls_->has_pending(); }
    boost::asio::awaitable<bool> wait(Step step) override;
    boost::asio::awaitable<bool> wait_for_reset() override;
    void cancel() override;
    void end() override;
    void reset() override;

private:
    boost::asio::awaitable<bool> wait_for(boost::asio::ip::tcp::socket::wait_type what);

    boost::asio::ip::tcp::socket& socket_;
    base::TlsSession* tls_;
};

/// The transport's way from a request to a tunnel.
class TunnelOpener {
public:
    virtual ~TunnelOpener() = default;

    /// Sends the response that opens the tunnel: a 200 to CONNECT, or a 101 with the `fields` of an
    /// origin, in the form of the transport. False: the client has left, or cannot accept.
    virtual boost::asio::awaitable<bool> open(unsigned status, FieldBlock fields) = 0;
    /// The client's end, once it is open.
    virtual TunnelSide& side() = 0;
    /// Bytes for the tunnel that came behind the request's head.
    virtual std::string take_early() = 0;
    /// The connection itself can go on as that of the requests inside (`forward.intercept`). Else
    /// they need one of their own.
    virtual bool goes_on_intercepted() const { return false; }
    /// It does so after this request. Precondition: goes_on_intercepted(), and the tunnel is open.
    virtual void keep_intercepted(std::unique_ptr<InterceptedConnect>) {}
    /// A response of success would open the tunnel, even if the origin has not switched (RFC 8441
    /// §5).
    virtual bool opens_by_success() const = 0;
};

}  // namespace proxy
