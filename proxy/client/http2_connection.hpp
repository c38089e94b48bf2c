#pragma once

#include <nghttp2/nghttp2.h>

#include <boost/asio/awaitable.hpp>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/async/pace.hpp"
#include "base/async/task_group.hpp"
#include "base/async/timer_wheel.hpp"
#include "base/async/wakeup.hpp"
#include "base/memory/memory.hpp"
#include "proxy/client/client_connection.hpp"
#include "proxy/client/http2_frame_heads.hpp"
#include "proxy/client/http2_limits.hpp"
#include "proxy/client/http2_stream.hpp"
#include "proxy/request/client_service.hpp"

namespace proxy {

/// One HTTP/2 connection of a client (RFC 9113) by nghttp2, from its preface to its end. Each
/// stream is served by a coroutine of its own, through the same steps as a request of HTTP/1.1. One
/// coroutine reads; another sends frames that became ready while nothing was read. A client that
/// misbehaves costs its connection only: nghttp2 checks the frames, http2_limits.hpp has the
/// bounds. One thread; service and connection outlive this.
class Http2Connection final : Http2Output, Http2Body::Windows {
public:
    Http2Connection(ClientService& service, ClientConnection& connection);
    Http2Connection(const Http2Connection&) = delete;
    Http2Connection& operator=(const Http2Connection&) = delete;
    ~Http2Connection() override;

    /// `received`: the bytes of the connection that were read already.
    boost::asio::awaitable<void> run(std::string_view received);

private:
    struct Callbacks;

    /// Ends the connection of a client that takes the waiting bytes too slowly.
    class SendWatch final : public base::TimerWheel::Timer {
    public:
        explicit SendWatch(Http2Connection& of) : of_(of) {}

        /// Bytes wait for the socket. Sets the time of the next look at what the client takes.
        void begin();
        /// The wait is over. False: the client was too slow.
        bool end();

    private:
        void expire() override;
        bool is_fast_enough();

        Http2Connection& of_;
        base::Pace taking_;
    };

    /// Charges the frames that the client sends, or brings about, to its Http2FrameBudget.
    class FrameMeter {
    public:
        using Clock = Http2FrameBudget::Clock;

        /// Takes the price of all frames that begin in these bytes. False when the client has spent
        /// all.
        bool charge(std::string_view bytes);
        /// The same for a reset that the client has brought about, which makes as much work.
        bool charge_reset() { return budget_.spend(Clock::now()); }
        /// A frame of a response has gone out.
        void earn() { budget_.earn(); }

    private:
        Http2FrameHeads heads_;
        Http2FrameBudget budget_;
    };

    /// The streams of the connection: those whose head comes, that are ready to be served, that are
    /// served, and that have ended, which are reused.
    class Streams final : public base::TimerWheel::Timer {
    public:
        explicit Streams(base::TimerWheel& wheel) : wheel_(wheel) {}

        /// An unused stream, now in use; null: all are in use, so add() one.
        Http2Stream* reuse();
        void add(std::unique_ptr<Http2Stream> stream) { unused_.push_back(std::move(stream)); }
        /// A part of this stream's head has come. Returns true if no other head is incomplete.
        bool expect_head(Http2Stream& stream) { return !std::exchange(coming_, &stream); }
        /// The head that is expected has come, or comes no more.
        void expect_no_head() { coming_ = nullptr; }
        bool expects_head() const { return coming_ != nullptr; }
        bool expects_head_of(const Http2Stream& stream) const { return coming_ == &stream; }
        /// Its head has come.
        void make_ready(Http2Stream& stream) { ready_.push_back(&stream); }
        bool any_ready() const { return !ready_.empty(); }
        /// The streams that are to be served in this turn.
        std::vector<Http2Stream*> take_turn();
        /// nghttp2 has closed the stream.
        void close(Http2Stream& stream);
        /// Closed streams that are neither ready nor served, for end(). Called outside of nghttp2.
        std::vector<Http2Stream*> take_ended() { return std::exchange(ended_, {}); }
        /// The stream is not in use any more.
        void end(Http2Stream& stream);
        /// Gives memory back when no stream has begun for kIdleAfter.
        void watch_idle();

        bool empty() const { return used_.empty(); }
        std::size_t size() const { return used_.size(); }
        Http2Stream& operator[](std::size_t i) const { return *used_[i]; }
        Http2Stream& back() const { return *used_.back(); }

        std::size_t leaving() const { return leaving_; }  // see Http2Stream::is_leaving()

    private:
        static constexpr std::chrono::seconds kIdleAfter{1};

        void expire() override;
        void watch();
        void rest();

        base::TimerWheel& wheel_;
        std::vector<std::unique_ptr<Http2Stream>> used_, unused_;
        std::vector<Http2Stream*> ready_, ended_;  // of those in use
        Http2Stream* coming_ = nullptr;
        std::size_t leaving_ = 0;
        bool watches_ = false;
        std::uint64_t begun_ = 0, begun_then_ = 0;  // then: when the watch began
    };

    /// Bytes that wait for the socket, apart from those of nghttp2.
    struct Unsent {
        std::string out;                              // frames, while they are made or wait
        base::Charge frames_room;                     // for more than kHttp2Unsent of them
        std::vector<boost::asio::const_buffer> rest;  // of `out`
        std::size_t head_bytes = 0;  // of heads that nghttp2 was given while the socket was full
        std::vector<base::Charge> heads_room;  // for more than kHttp2UnsentHeads of them

        bool has_room_for_frames(base::MemoryBudget& windows);
        /// False: there is no room for the heads.
        bool note_heads(std::size_t bytes, base::MemoryBudget& windows);
        /// The socket has taken all. True if heads were among it.
        bool forget_heads();
    };

    boost::asio::awaitable<void> serve(std::string_view received);
    boost::asio::awaitable<void> send_loop();
    boost::asio::awaitable<void> serve_stream(Http2Stream& stream);
    void state_settings();
    bool take(std::string_view bytes);
    void take_frame(const nghttp2_frame& frame, Http2Stream* stream);
    void count_frame(const nghttp2_frame& frame, Http2Stream* stream);
    void calm();
    void take_no_head();
    void serve_ready();
    void wait_for_client();

    void send();
    bool make_frames();
    void return_frames();
    boost::asio::awaitable<void> wait_until_sent();
    void abandon();
    void announce_end();

    int begin_stream(std::int32_t id);
    void close_stream(Http2Stream& stream);
    void end_stream(Http2Stream& stream);
    void free_ended();
    boost::asio::awaitable<void> end_streams();

    // Http2Output, Http2Body::Windows
    nghttp2_session* session() override { return session_.get(); }
    void send_soon() override;
    void submitted(std::size_t bytes) override;
    void serve_late(std::int32_t stream) override;
    std::int64_t taken() override { return connection_.taken(); }
    std::int64_t given() const override {
        return static_cast<std::int64_t>(connection_.response_bytes());
    }
    void taken(std::int32_t stream, std::size_t bytes) override;
    void widen(std::int32_t stream, std::size_t bytes) override;
    void refuse(std::int32_t stream) override;

    struct SessionFree {
        void operator()(nghttp2_session* session) const { nghttp2_session_del(session); }
    };

    ClientService& service_;
    ClientConnection& connection_;
    std::unique_ptr<nghttp2_session, SessionFree> session_;
    base::TaskGroup tasks_;  // a coroutine for each stream, and the one that sends
    std::shared_ptr<base::Wakeup> to_send_;
    std::shared_ptr<base::Wakeup> all_sent_;  // or over_
    SendWatch watch_;

    Streams streams_;
    FrameMeter meter_;
    Unsent unsent_;
    bool busy_ = false;       // frames are read or made: no further ones are sent from here
    bool blocked_ = false;    // the socket takes no more
    bool announced_ = false;  // the client knows that the connection ends
    bool calmed_ = false;     // the client made too much work
    bool over_ = false;
};

/// Serves the rest of a connection whose client speaks HTTP/2.
boost::asio::awaitable<void> serve_http2(ClientService& service, ClientConnection& connection,
                                         std::string_view received);

}  // namespace proxy
