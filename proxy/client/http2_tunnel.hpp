#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "base/async/wakeup.hpp"
#include "proxy/client/http2_body.hpp"
#include "proxy/client/http2_writer.hpp"
#include "proxy/http/http2_head.hpp"
#include "proxy/http/message_parser.hpp"
#include "proxy/request/tunnel_side.hpp"

namespace proxy {

/// A tunnel through one HTTP/2 stream: CONNECT (RFC 9113 §8.5), or an extended CONNECT for
/// WebSockets (RFC 8441). An extended CONNECT goes to the origin as the handshake of HTTP/1.1, with
/// a key of its own. Body and writer of the stream outlive this. One thread.
class Http2Tunnel final : public TunnelOpener, TunnelSide {
public:
    Http2Tunnel(Http2Body& body, Http2Writer& writer, std::shared_ptr<base::Wakeup> closed)
        : body_(body), writer_(writer), closed_(std::move(closed)) {}

    /// Begins with the next request.
    void begin();
    /// Makes the handshake of HTTP/1.1 of an extended CONNECT for this protocol.
    void ask_upgrade(Head& head, std::string_view protocol);
    /// The stream is over.
    void close() { closed_->notify(); }

    boost::asio::awaitable<bool> open(unsigned status, FieldBlock fields) override;
    TunnelSide& side() override { return *this; }
    std::string take_early() override { return {}; }
    bool opens_by_success() const override { return !key_.empty(); }

private:
    Step read(boost::asio::mutable_buffer into, std::size_t& got) override;
    Step write(boost::asio::const_buffer from, std::size_t& sent) override;
    bool has_pending() const override { return body_.has_come(); }
    boost::asio::awaitable<bool> wait(Step step) override;
    boost::asio::awaitable<bool> wait_for_reset() override;
    void cancel() override;
    void end() override { writer_.end_tunnel(); }
    void reset() override;

    Http2Body& body_;
    Http2Writer& writer_;
    std::shared_ptr<base::Wakeup> closed_;
    bool cancelled_ = false;
    std::string protocol_;  // of an extended CONNECT
    std::string key_;       // of the handshake with the origin
};

}  // namespace proxy
