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
    bool has_ended() const { return closed_ || end_sent_; }
    bool closed() const { return closed_; }
    /// The head of the response has become a frame.
    bool has_begun() const { return submitted_; }
    /// Ends the stream by an error (RFC 9113 §7).
    void reset(std::uint32_t code);

    // The stream as a tunnel, whose bytes are counted elsewhere.
    /// Sends a 200 with these fields; all that follows is the tunnel's.
    void begin_tunnel(FieldBlock fields);
    /// Takes as many bytes as there is room for.
    std::size_t write_some(boost::asio::const_buffer from);
    bool has_room() const { return small_.size() - small_sent_ < kTunnelBytes; }
    /// No bytes follow.
    void end_tunnel();
    base::Wakeup& wakeup() { return *wakeup_; }

    /// A frame of this stream has gone to the connection's buffer. `end`: with END_STREAM.
    void count_frame(std::uint64_t bytes, bool end) {
        sent_ += bytes;
        end_sent_ = end_sent_ || end;
    }

    void begin(const ResponseHead& head) override;
    std::vector<boost::asio::const_buffer>& next_piece() override { return views_; }
    Progress write_now(BodyPiece& piece) override;
    boost::asio::awaitable<bool> write_rest(const Fill::Reader* reader) override;
    boost::asio::awaitable<void> interim(unsigned status, FieldBlock fields) override;
    bool takes_files() const override { return false; }
    bool complete() const override;
    bool client_has_left() override { return closed_; }
    std::int64_t given() const override { return output_.given(); }
    std::int64_t taken() override { return output_.taken(); }
    std::uint64_t sent_bytes() const override { return sent_; }

    /// nghttp2 asks for at most `room` bytes of the body. Returns their number, or an error of
    /// nghttp2, and sets `flags`.
    ssize_t offer(std::size_t room, std::uint32_t& flags);
    /// Appends the offered bytes to `out`.
    void move_to(std::string& out, std::size_t bytes);
    std::size_t kept_bytes() const;
    void give_back();

private:
    static constexpr std::size_t kTunnelBytes = 16 * 1024;

    void resume();
    std::uint64_t waiting() const { return small_.size() - small_sent_ + views_bytes_; }
    bool has_all() const;
    void submit();
    bool is_slow(std::chrono::steady_clock::time_point now, const Fill::Reader* reader);
    std::int64_t moved() const { return static_cast<std::int64_t>(body_bytes_) + credit_; }

    ClientService& service_;
    Http2Output& output_;
    std::shared_ptr<base::Wakeup> wakeup_;
    std::int32_t stream_ = 0;
    ResponseHead head_;
    bool tunnel_ = false;
    bool submitted_ = false, deferred_ = false, closed_ = true;
    bool ends_ = false;        // the last piece ends the body
    bool given_up_ = false;    // a piece was dropped before all of it had gone
    bool end_sent_ = false;    // a frame with END_STREAM has gone to the connection's buffer
    std::uint64_t given_ = 0;  // bytes of the body that the sender has given
    std::string small_;        // a small piece
    std::size_t small_sent_ = 0;
    std::vector<boost::asio::const_buffer> views_;  // of a larger one
    std::uint64_t views_bytes_ = 0;
    std::uint64_t sent_ = 0;
    ResponsePace taking_;
    std::int64_t credit_ = 0;      // bytes that other streams moved while this one might have
    std::int64_t taken_then_ = 0;  // Http2Output::taken() at the last look
};

}  // namespace proxy
