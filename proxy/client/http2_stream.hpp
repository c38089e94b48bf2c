#pragma once

#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <cstdint>
#include <memory>
#include <utility>

#include "base/async/timer_wheel.hpp"
#include "base/memory/memory.hpp"
#include "proxy/client/http2_body.hpp"
#include "proxy/client/http2_tunnel.hpp"
#include "proxy/client/http2_writer.hpp"
#include "proxy/http/http2_head.hpp"
#include "proxy/request/request.hpp"
#include "proxy/request/request_stats.hpp"
#include "proxy/request/request_steps.hpp"
#include "proxy/request/transaction.hpp"

namespace proxy {

class ClientConnection;

/// One stream of an HTTP/2 connection: a request and the response to it. The connection reuses the
/// object for later streams. It is in use until its request is served and nghttp2 has closed the
/// stream. One thread; service, connection, output and windows outlive this.
class Http2Stream final : base::TimerWheel::Timer {
public:
    Http2Stream(ClientService& service, ClientConnection& connection, Http2Output& output,
                Http2Body::Windows& windows);
    Http2Stream(const Http2Stream&) = delete;
    Http2Stream& operator=(const Http2Stream&) = delete;

    /// Begins with the stream of this number, whose head comes next.
    void begin(std::int32_t id);
    /// Takes the head that the lines of `head` have become. `ended`: no body follows.
    void take_head(bool ended);
    /// Charges a large head to limits.body_windows until finish(). False: there is no room.
    bool find_room();
    /// A request without content whose end comes in a frame of its own, as some clients send it
    /// (RFC 9113 §8.1). It is served as others of its kind, once the end shows that it is one.
    bool expects_end() const;
    /// Waits for that frame for kHttp2WaitForEnd at most, then calls Http2Output::serve_late().
    void wait_for_end();
    /// True if it was waiting.
    bool stop_waiting();
    /// Serves the request without a coroutine, if that is possible. False: serve() has to follow.
    bool serve_at_once();
    /// Serves the request, after begin_serving(). It has no exceptions but those of a cancelled
    /// coroutine.
    boost::asio::awaitable<void> serve();
    /// The end of the response has gone out. A body of the request that has not ended is dropped as
    /// it comes, because some clients lose a response when its stream is reset. A client that sends
    /// on for too long is told to stop.
    void response_sent();
    /// nghttp2 has closed the stream.
    void close();
    /// After serve() and close(): counts and logs the request.
    void finish();

    std::int32_t id() const { return writer.stream(); }
    /// serve() follows.
    void begin_serving() { stage_ = Stage::serving; }
    bool is_running() const { return stage_ == Stage::serving || stage_ == Stage::failed; }
    bool is_closed() const { return writer.closed(); }
    /// close() came after the end of the response.
    bool is_leaving() const { return writer.closed_after_end(); }

    std::size_t kept_bytes() const;
    void give_back();

    Http2Head head;
    Http2Body body;
    Http2Writer writer;

private:
    enum class Stage : std::uint8_t {
        begun,
        waiting_for_end,  // of the request
        serving,
        failed,  // the same; serve_at_once() has met an exception
        served,
    };

    /// A body that nobody reads, looked at from time to time.
    struct DroppedBody {
        std::chrono::steady_clock::time_point until{};
        std::int64_t received_then = 0;  // at the last look

        /// The client sends on, and may still do so.
        bool goes_on(std::int64_t received, std::chrono::steady_clock::time_point now) {
            return received > std::exchange(received_then, received) && now < until;
        }
    };

    Http2Stream(ClientService& service, ClientConnection& connection, Http2Output& output,
                Http2Body::Windows& windows, const std::shared_ptr<base::Wakeup>& wakeup);
    void expire() override;
    void take_connect();
    boost::asio::awaitable<void> refuse_protocol();
    boost::asio::awaitable<void> run();
    void end_response();

    ClientConnection& connection_;
    Http2Output& output_;
    Stage stage_ = Stage::begun;
    bool unknown_protocol_ = false;  // of an extended CONNECT
    base::Charge head_room_;         // for a large head
    DroppedBody dropped_;
    ParseError bad_head_ = ParseError::ok;
    Request request_;
    RequestStats stats_;
    Http2Tunnel tunnel_;
    Transaction transaction_;
    RequestSteps steps_;
};

}  // namespace proxy
