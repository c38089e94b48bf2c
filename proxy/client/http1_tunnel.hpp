#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "proxy/client/client_connection.hpp"
#include "proxy/request/tunnel_side.hpp"

namespace proxy {

/// Opens a tunnel on an HTTP/1.1 connection, which becomes the tunnel: no request follows
/// on it. The connection outlives this. One thread.
class Http1Tunnel final : public TunnelOpener {
public:
    explicit Http1Tunnel(ClientConnection& connection) : connection_(connection) {}

    boost::asio::awaitable<bool> open(unsigned status, FieldBlock fields) override;
    TunnelSide& side() override { return *side_; }
    std::string take_early() override { return connection_.input().take_all(); }
    bool opens_by_success() const override { return false; }
    /// OpenSSL works on the socket, so there is no TLS in TLS on it.
    bool goes_on_intercepted() const override { return !connection_.tls(); }
    void keep_intercepted(std::unique_ptr<InterceptedConnect> inside) override {
        inside_ = std::move(inside);
    }
    /// The CONNECT that keep_intercepted() was called for; null without one.
    std::unique_ptr<InterceptedConnect> take_intercepted() { return std::move(inside_); }

private:
    class Side final : public SocketSide {
    public:
        explicit Side(ClientConnection& connection)
            : SocketSide(connection.socket(), connection.tls()), connection_(connection) {}
        void reset() override { connection_.reset(); }

    private:
        ClientConnection& connection_;
    };

    ClientConnection& connection_;
    std::optional<Side> side_;
    std::unique_ptr<InterceptedConnect> inside_;
};

}  // namespace proxy
