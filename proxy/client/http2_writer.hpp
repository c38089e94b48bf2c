#pragma once

#include <nghttp2/nghttp2.h>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/buffer.hpp>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/async/wakeup.hpp"
#include "proxy/client/http2_body_queue.hpp"
#include "proxy/client/shared_pace.hpp"
#include "proxy/request/response_writer.hpp"

namespace proxy {

class ClientService;

/// The side of an HTTP/2 connection that its writers need.
class Http2Output {
public:
    virtual ~Http2Output() = default;
    virtual nghttp2_session* session() = 0;
    /// Frames are to be sent as soon as the present work is done.
    virtual void send_soon() = 0;
    /// nghttp2 has been given the head of a response, of so many bytes.
    virtual void submitted(std::size_t bytes) = 0;
    /// The rest of this request is late. It is served now.
    virtual void serve_late(std::int32_t stream) = 0;
    /// Bytes of all streams that the client has taken.
    virtual std::int64_t taken() = 0;
    /// Bytes of all streams that have gone to the client's connection.
    virtual std::int64_t given() const = 0;
};

/// Writes the response of one HTTP/2 stream as HEADERS and DATA frames (RFC 9113 §8.1). nghttp2
/// asks for the bytes of a body when the windows of stream and connection are open. A small piece
/// is kept here, so that its sender need not wait; of a larger one, the sender's bytes are read
/// where they stand. One thread; service and output outlive this.
class Http2Writer final : public ResponseWriter {
public:
    Http2Writer(ClientService& service, Http2Output& output, std::shared_ptr<base::Wakeup> wakeup)
        : service_(service), output_(output), wakeup_(std::move(wakeup)) {}

    /// Begins with the response of `stream`.
    void start(std::int32_t stream);
    /// The stream is over, and takes no more bytes. The caller wakes a coroutine that waits.
    void close();
    /// All bytes of the response have become frames, or the stream is over.
    bool has_ended() const { return closed_ || progress_.end_sent; }
    bool closed() const { return closed_; }
    /// close() came after the end of the response.
    bool closed_after_end() const { return closed_ && progress_.end_sent; }
    /// Of start().
    std::int32_t stream() const { return stream_; }
    /// The head of the response has become a frame.
    bool has_begun() const { return submitted_; }
    /// Ends the stream by an error (RFC 9113 §7).
    void reset(std::uint32_t code);

    // The stream as a tunnel, whose bytes are counted elsewhere.
    /// Sends a 200 with these fields; all that follows is the tunnel's.
    void begin_tunnel(FieldBlock fields);
    /// Takes as many bytes as there is room for.
    std::size_t write_some(boost::asio::const_buffer from);
    bool has_room() const { return queue_.kept_bytes() < kTunnelBytes; }
    /// No bytes follow.
    void end_tunnel();
    base::Wakeup& wakeup() { return *wakeup_; }

    /// A frame of this stream has gone to the connection's buffer. `end`: with END_STREAM.
    void count_frame(std::uint64_t bytes, bool end) { progress_.count_frame(bytes, end); }

    void begin(const ResponseHead& head) override;
    std::vector<boost::asio::const_buffer>& next_piece() override { return queue_.views(); }
    Progress write_now(BodyPiece& piece) override;
    boost::asio::awaitable<bool> write_rest(const Fill::Reader* reader) override;
    boost::asio::awaitable<void> interim(unsigned status, FieldBlock fields) override;
    bool takes_files() const override { return false; }
    bool complete() const override;
    bool client_has_left() override { return closed_; }
    std::int64_t given() const override { return output_.given(); }
    std::int64_t taken() override { return output_.taken(); }
    std::uint64_t sent_bytes() const override { return progress_.sent_bytes; }

    /// nghttp2 asks for at most `room` bytes of the body. Returns their number, or an error of
    /// nghttp2, and sets `flags`.
    ssize_t offer(std::size_t room, std::uint32_t& flags);
    /// Appends the offered bytes to `out`.
    void move_to(std::string& out, std::size_t bytes);
    std::size_t kept_bytes() const;
    void give_back();

private:
    using Clock = std::chrono::steady_clock;
    static constexpr std::size_t kTunnelBytes = 16 * 1024;

    /// How far the response has come.
    struct ResponseProgress {
        std::uint64_t given_bytes = 0;  // of the body, by the sender
        std::uint64_t sent_bytes = 0;   // of frames that have gone to the connection's buffer
        bool ends = false;              // the last piece ends the body
        bool given_up = false;          // a piece was dropped before all of it had gone
        bool end_sent = false;          // a frame with END_STREAM is among those that have gone

        void give(std::uint64_t bytes) { given_bytes += bytes; }
        void count_frame(std::uint64_t bytes, bool end) {
            sent_bytes += bytes;
            end_sent = end_sent || end;
        }
        /// The sender has given the whole body, and none of it was dropped.
        bool has_all(const ResponseHead& head) const {
            return !given_up && (head.length ? given_bytes == *head.length : ends);
        }
    };

    /// The minimum rate of the client on this stream. Other streams may have had their turn while
    /// this one had to wait, so it has credit for bytes of theirs.
    class StreamPace {
    public:
        void begin() {
            pace_.begin();
            credit_ = 0;
        }
        /// Waits begin. `taken`: Http2Output::taken(), as below.
        void begin_waits(std::int64_t taken) { taken_then_ = taken; }
        /// `body_bytes`: of this stream, so far, as below. Returns the time of the next check.
        Clock::time_point wait(Clock::time_point now, Clock::duration window,
                               const Fill::Reader* reader, std::uint64_t body_bytes) {
            return pace_.wait(now, window, reader, [&] { return moved(body_bytes); });
        }
        /// A wait has ended. `is_open`: the client's windows let bytes of this stream pass.
        void note_taken(std::int64_t taken, bool is_open) {
            if (is_open) credit_ += taken - taken_then_;
            taken_then_ = taken;
        }
        bool fast_enough(Clock::time_point now, Clock::duration window, std::uint64_t least,
                         const Fill::Reader* reader, std::uint64_t body_bytes) {
            return pace_.fast_enough(now, window, least, reader, [&] { return moved(body_bytes); });
        }

    private:
        std::int64_t moved(std::uint64_t body_bytes) const {
            return static_cast<std::int64_t>(body_bytes) + credit_;
        }

        ResponsePace pace_;
        std::int64_t credit_ = 0;
        std::int64_t taken_then_ = 0;  // at the last look
    };

    void resume();
    bool has_all() const { return progress_.has_all(head_); }
    void submit();
    bool is_slow(Clock::time_point now, const Fill::Reader* reader);

    ClientService& service_;
    Http2Output& output_;
    std::shared_ptr<base::Wakeup> wakeup_;
    std::int32_t stream_ = 0;
    bool tunnel_ = false;
    bool submitted_ = false, deferred_ = false, closed_ = true;
    ResponseHead head_;
    ResponseProgress progress_;
    Http2BodyQueue queue_;
    StreamPace pace_;
};

}  // namespace proxy
