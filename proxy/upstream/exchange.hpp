#pragma once

#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/http/arrival.hpp"
#include "proxy/http/message_parser.hpp"
#include "proxy/http/received.hpp"
#include "proxy/upstream/upstream_pool.hpp"

namespace proxy {

/// Bytes read from an upstream at a time while a body comes: a small one needs no large buffer, and
/// there is none when limits.body_windows are in use.
inline constexpr std::size_t kFirstReadBytes = 8 * 1024;
inline constexpr std::size_t kUpstreamReadBytes = 64 * 1024;

/// One request to an origin or peer and its answer. Owned by one coroutine of one worker. When that
/// is cancelled, what it waits for ends with FetchError::abandoned.
class Exchange {
public:
    using Clock = std::chrono::steady_clock;

    struct Request {
        std::string head;       // as it goes out, empty line included
        bool is_head = false;   // HEAD: the answer has no body
        bool may_retry = true;  // idempotent and without a body: once more, on a fresh connection,
                                // when the first is refused or ends before any byte of an answer
    };

    Exchange(UpstreamPool& pool, const HeadLimits& limits) : pool_(pool), limits_(limits) {}
    Exchange(const Exchange&) = delete;
    Exchange& operator=(const Exchange&) = delete;

    struct Patience {
        Clock::time_point connect;                            // name and connection by then
        Clock::duration head;                                 // from sending to the head
        Clock::time_point latest = Clock::time_point::max();  // head in any case by then
    };

    /// Called, and awaited, with each interim head that comes before the final one (RFC 9110
    /// §15.2); without it they are dropped. All heads of an answer together are bounded as one.
    using OnInterim = std::function<boost::asio::awaitable<void>(const Head&)>;
    void on_interim(OnInterim handler) { on_interim_ = std::move(handler); }

    /// It is with a peer: connections recover_quickly().
    void with_peer() { with_peer_ = true; }

    /// A 101 may come, and is a final head then.
    void allow_upgrade() { may_upgrade_ = true; }

    /// Sends and waits for the final head. On success head() is set.
    boost::asio::awaitable<FetchError> run(const UpstreamTarget& target, const Request& request,
                                           Patience patience);

    // The same in steps, for requests with a body.
    boost::asio::awaitable<FetchError> connect(const UpstreamTarget& target,
                                               Clock::time_point deadline, Kept kept);
    boost::asio::awaitable<FetchError> send(std::string_view bytes, Clock::time_point deadline);
    boost::asio::awaitable<FetchError> receive_head(bool is_head, Clock::time_point deadline);
    /// The next head, which may be an interim one. After `head_timeout` it may be called again.
    boost::asio::awaitable<FetchError> receive_any_head(bool is_head, Clock::time_point deadline);

    // While a body is sent, the answer to it may come already (RFC 9112 §9.5).
    /// Listens for it: `notify` is called once when the origin says something or ends the
    /// connection; what is being sent then is broken off. No more than one at a time.
    void listen(std::function<void()> notify);
    void stop_listening() { listener_.reset(); }
    bool heard() const { return listener_ && listener_->heard; }
    /// send() as far as it gets until something is heard; `bytes` is what is left then.
    boost::asio::awaitable<FetchError> send_some(std::string_view& bytes,
                                                 Clock::time_point deadline);
    enum class Said { nothing, head, end };
    /// Takes what has come, without waiting. `head`: receive_any_head() has one to give at once.
    Said look();
    /// Whoever wants the answer has left: what waits here ends with FetchError::abandoned, and so
    /// does what is begun later.
    void abandon();
    /// The connection had carried another request before.
    bool reused() const { return connection_ && connection_->used; }
    /// After FetchError::reset: nobody at the other side can have read a byte of the request, so
    /// sending it elsewhere is not sending it twice. Two things prove that, on a reused connection
    /// and before any byte of an answer: this system took no byte of it; or the other side ended
    /// its sending in an orderly way, and has acknowledged nothing of it. Such an end acknowledges
    /// all that had come by then, and who has said it reads no further request (RFC 9112 §9.6). A
    /// reset proves nothing, as what was read may be unacknowledged.
    bool was_unread() const;
    /// An answer has begun to come.
    bool heard_answer() const { return got_bytes_; }
    /// The connection could carry another request after this answer.
    bool keep_alive() const { return parser_ && parser_->keep_alive(); }
    /// The end of the body shows: by its length, by chunks, or because there is none.
    bool has_framing() const { return parser_ && !parser_->need_eof(); }
    /// From here on `counter`, which must outlive this, grows by each body byte that is decoded.
    void count_into(std::uint64_t& counter) { received_ = &counter; }

    const Head& head() const { return head_; }
    /// What was malformed, after that error.
    ParseError malformed() const { return malformed_; }
    std::optional<std::uint64_t> content_length() const;
    /// From sending the request, on the connection that answered, to run()'s success.
    Clock::duration time_to_head() const { return time_to_head_; }
    const Arrival& arrival() const { return arrival_; }  // of the head
    /// Who sent the head: `10.0.0.7:8080`, `[::1]:80`.
    const std::string& server() const { return server_; }
    /// The sender is not to be asked again before then, by its own word in the head.
    std::optional<Clock::time_point> not_before() const;
    /// The same, with the time of the request.
    Received received() const {
        return {head_, request_time_, arrival_, {}, false, arrival_.steady - asked_at_};
    }

    /// The body ended as its framing said.
    bool done() const { return parser_ && parser_->is_done(); }
    /// Waits for more of the body and decodes it into pieces(), which stay valid until the next
    /// call. No error and no pieces: call again, or the body is done().
    boost::asio::awaitable<FetchError> read_body(Clock::time_point deadline);
    std::span<const std::string_view> pieces() const { return pieces_; }
    /// The first bytes of pieces() are dealt with: at most as many as there are.
    void take(std::size_t bytes);

    /// Reads what is left of an answer that nobody wants, if that is at most `kMaxDiscarded` bytes
    /// and comes by then, so that the connection can carry another request; ends with finish().
    static constexpr std::uint64_t kMaxDiscarded = 64 * 1024;
    boost::asio::awaitable<void> discard(Clock::time_point deadline);

    /// After a 101: the connection, with what came behind the head in its buffer.
    UpstreamPtr take_connection();

    /// Hands the connection back when it can carry another request; closes it otherwise.
    void finish();

private:
    struct Listener {
        std::function<void()> notify;
        bool heard = false;
    };

    boost::asio::awaitable<FetchError> read_some(std::size_t least);
    ParseError parse_head(bool is_head);
    FetchError decode();
    std::size_t next_read();
    FetchError refuse(ParseError what);
    void note_write(std::size_t sent, const boost::system::error_code& ec);
    void note_end(bool orderly);

    UpstreamPool& pool_;
    HeadLimits limits_;
    OnInterim on_interim_;
    UpstreamPtr connection_;
    std::shared_ptr<Listener> listener_;  // its wait may outlive this
    std::string head_bytes_;              // what head_ views; the buffer moves on
    Head head_;
    std::optional<ResponseParser> parser_;
    std::vector<std::string_view> pieces_;
    std::size_t pending_ = 0;  // bytes at the front of the buffer that pieces_ still view
    std::size_t interim_bytes_ = 0;
    ParseError malformed_ = ParseError::ok;
    bool got_bytes_ = false;
    bool eof_ = false;
    bool orderly_end_ = false;  // and nothing was amiss with the connection before
    bool broken_ = false;
    bool wrote_ = false;                         // this system took bytes of the request
    std::optional<std::uint64_t> acknowledged_;  // before the request, on a reused connection
    bool abandoned_ = false;
    bool may_upgrade_ = false;
    bool with_peer_ = false;
    bool first_read_ = true;  // of the body
    Charge read_ahead_;       // for a large buffer
    std::uint64_t* received_ = nullptr;
    WallTime request_time_{};
    Clock::time_point asked_at_{};  // the same on the other clock
    Arrival arrival_;
    std::string server_;
    bool announces_a_body_ = false;  // the head that answers HEAD
    Clock::duration time_to_head_{0};
};

}  // namespace proxy
