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
#include "proxy/http/redirects.hpp"
#include "proxy/rewrite/body_rewriter.hpp"
#include "proxy/rewrite/head_rewrite.hpp"
#include "proxy/telemetry/span.hpp"
#include "proxy/upstream/upstream_pool.hpp"

namespace proxy {

/// Bytes that one read takes from an upstream while a body comes. A small body needs no large
/// buffer. A large one is unavailable while limits.body_windows are in use.
inline constexpr std::size_t kFirstReadBytes = 8 * 1024;
inline constexpr std::size_t kUpstreamReadBytes = 64 * 1024;

/// A system acknowledges what it receives within a fraction of a second, however long its server
/// takes to answer. When it acknowledges no byte of a request on a kept connection for this long,
/// the connection is dead: a firewall or a balancer on the way has forgotten it.
inline constexpr std::chrono::milliseconds kSilenceOfSystem{2000};

/// One request to an origin or peer, and its response. One coroutine of one worker owns it. When
/// that coroutine is cancelled, its wait ends with FetchError::abandoned.
class Exchange {
public:
    using Clock = std::chrono::steady_clock;

    struct Request {
        std::string head;      // as it goes out, empty line included
        bool is_head = false;  // HEAD: the response has no body
        bool may_retry =
            true;  // idempotent and without a body: sent once more on a fresh connection when the
                   // first one is refused, or ends before any byte of a response
    };

    Exchange(UpstreamPool& pool, const HeadLimits& limits) : pool_(pool), limits_(limits) {}
    ~Exchange();
    Exchange(const Exchange&) = delete;
    Exchange& operator=(const Exchange&) = delete;

    struct Patience {
        Clock::time_point connect;                            // deadline of name and connection
        Clock::duration head;                                 // from sending to the head
        Clock::time_point latest = Clock::time_point::max();  // deadline of the head in any case
    };

    /// `handler` is awaited for each interim head that comes before the final one (RFC 9110 §15.2).
    /// Without a handler they are dropped. One limit holds for all heads of a response together.
    using OnInterim = std::function<boost::asio::awaitable<void>(const Head&)>;
    void on_interim(OnInterim handler) { on_interim_ = std::move(handler); }

    /// The upstream is a peer: its connections recover_quickly().
    void with_peer() { with_peer_ = true; }

    /// The span of the request, which ends with the response. A request that follows takes its
    /// place.
    void trace(OpenSpan span) { span_ = std::move(span); }
    OpenSpan& span() { return span_; }

    /// The requests are those of one client connection: `owned` has the upstream connection that
    /// belongs to it, or gets it (UpstreamConnection::of_client). Without this call such a
    /// connection closes after the response.
    void serve_owner(UpstreamPtr& owned) { owned_ = &owned; }
    /// The request logs its connection in.
    void log_in() { logs_in_ = true; }
    /// The response came by a connection of one client, so it is for that client alone.
    bool is_of_client() const { return of_client_; }

    /// The request must not be executed twice, so the silence of a kept connection does not end it:
    /// packets that are late, and not lost, would still arrive before those of the abort.
    void wait_for_late_packets() { waits_for_late_ = true; }

    /// Accepts a 101 as a final head.
    void allow_upgrade() { may_upgrade_ = true; }

    /// Sends the request and waits for the final head. On success head() is set.
    boost::asio::awaitable<FetchError> run(const UpstreamTarget& target, const Request& request,
                                           Patience patience);

    // The steps of run(), for requests with a body.
    boost::asio::awaitable<FetchError> connect(const UpstreamTarget& target,
                                               Clock::time_point deadline, Kept kept);
    boost::asio::awaitable<FetchError> send(std::string_view bytes, Clock::time_point deadline);
    boost::asio::awaitable<FetchError> receive_head(bool is_head, Clock::time_point deadline);
    /// Waits for the next head, which may be an interim one. After `head_timeout` the caller may
    /// call it again.
    boost::asio::awaitable<FetchError> receive_any_head(bool is_head, Clock::time_point deadline);

    // The response may come while the body is still being sent (RFC 9112 §9.5).
    /// Watches for that: `notify` is called once when the upstream sends a byte or ends the
    /// connection, and the send under way breaks off. One watch at a time.
    void listen(std::function<void()> notify);
    void stop_listening() { listener_.reset(); }
    bool heard() const { return listener_ && listener_->heard; }
    /// Sends until all of `bytes` is out or the upstream is heard. `bytes` keeps the remainder.
    boost::asio::awaitable<FetchError> send_some(std::string_view& bytes,
                                                 Clock::time_point deadline);
    enum class Said { nothing, head, end };
    /// Takes the bytes that have come, without waiting. `head`: receive_any_head() returns one at
    /// once.
    Said look();
    /// Ends the wait under way, and every later one, with FetchError::abandoned.
    void abandon();
    /// The connection had carried another request before.
    bool reused() const { return connection_ && connection_->used; }
    /// After FetchError::reset: true if the other side provably read no byte of the request, so a
    /// second send elsewhere is safe. It holds on a reused connection before any byte of a
    /// response, by one of two proofs. This system took no byte of the request. Or the other side
    /// ended its sending in an orderly way and has acknowledged nothing of the request: such an end
    /// acknowledges all bytes that came before, and its sender reads no further request (RFC 9112
    /// §9.6). A reset by the other side proves nothing, as read bytes may stay unacknowledged. Nor
    /// does its silence: packets may be late.
    bool was_unread() const;
    /// run() has sent the request twice, because the first connection ended without a response.
    bool sent_twice() const { return sent_twice_; }
    /// A response has begun to come.
    bool heard_answer() const { return got_bytes_; }
    /// The connection can carry another request after this response.
    bool keep_alive() const { return parser_ && parser_->keep_alive(); }
    /// The framing shows the end of the body: a length, chunks, or no body.
    bool has_framing() const { return parser_ && !parser_->need_eof(); }
    /// Adds each decoded byte of the body to `counter`, which must outlive this.
    void count_into(std::uint64_t& counter) { received_ = &counter; }

    const Head& head() const { return head_; }
    /// The fault of a malformed response.
    ParseError malformed() const { return malformed_; }
    std::optional<std::uint64_t> content_length() const;
    /// From sending the request, on the connection that answered, to the head.
    Clock::duration time_to_head() const { return time_to_head_; }
    const Arrival& arrival() const { return arrival_; }  // of the head
    /// Address of the sender of the head: `10.0.0.7:8080`, `[::1]:80`.
    const std::string& server() const { return server_; }
    /// The sender's Retry-After, as a time; no request should go out before.
    std::optional<Clock::time_point> not_before() const;
    /// The head with the time of its request.
    Received received() const;
    /// The response came by these redirects, or is the last of them: head() has the fields that
    /// they give it from now on.
    void came_by(std::shared_ptr<const Redirects> redirects) {
        head_.fields = redirects->fields();
        redirects_ = std::move(redirects);
    }
    /// Gives the response the head that clients of a mirror get.
    void take_head(std::shared_ptr<const HeadRewrite> head);
    bool is_rewritten() const { return rewritten_ != nullptr; }
    /// From now on read_body() gives what `rewriter` makes of the body, and its length is unknown.
    /// `charge`: for the memory of `rewriter`.
    void rewrite_body(std::unique_ptr<BodyRewriter> rewriter, Charge charge);
    /// The redirects that were followed to it.
    unsigned redirects() const { return redirects_ ? redirects_->count() : 0; }

    /// The body ended as its framing said.
    bool done() const { return came_whole() && (!rewriter_ || rewriter_->done()); }
    /// Waits for more of the body and decodes it into pieces(), which are valid until the next
    /// call. Without an error and without pieces the body is done(), or the caller calls again.
    boost::asio::awaitable<FetchError> read_body(Clock::time_point deadline) {
        return rewriter_ ? read_rewritten(deadline) : read_received(deadline);
    }
    std::span<const std::string_view> pieces() const { return pieces_; }
    /// Drops the first bytes of pieces(), at most as many as there are.
    void take(std::size_t bytes);

    /// Reads the remainder of an unwanted response, so that the connection can carry another
    /// request, and then calls finish(). A remainder above `kMaxDiscarded` bytes, or later than the
    /// deadline, closes the connection.
    static constexpr std::uint64_t kMaxDiscarded = 64 * 1024;
    boost::asio::awaitable<void> discard(Clock::time_point deadline);

    /// After a 101: the connection, with the bytes behind the head in its buffer.
    UpstreamPtr take_connection();

    /// Returns the connection to the pool when it can carry another request, else closes it.
    void finish();

private:
    struct Listener {
        std::function<void()> notify;
        bool heard = false;
    };

    bool came_whole() const { return parser_ && parser_->is_done(); }
    boost::asio::awaitable<FetchError> read_received(Clock::time_point deadline);
    boost::asio::awaitable<FetchError> read_rewritten(Clock::time_point deadline);
    FetchError rewrite_some();
    boost::asio::awaitable<FetchError> read_some(std::size_t least);
    ParseError parse_head(bool is_head);
    FetchError decode();
    std::size_t next_read();
    FetchError refuse(ParseError what);
    void note_write(std::size_t sent, const boost::system::error_code& ec);
    void note_end(bool orderly);
    bool has_vanished() const;
    void give_up();
    FetchError vanish();

    UpstreamPool& pool_;
    HeadLimits limits_;
    OnInterim on_interim_;
    UpstreamPtr connection_;
    std::shared_ptr<Listener> listener_;  // its wait may outlive this
    std::string head_bytes_;              // viewed by head_, as the buffer moves on
    Head head_;
    std::shared_ptr<const Redirects> redirects_;  // null: none
    std::optional<ResponseParser> parser_;
    std::shared_ptr<const HeadRewrite> rewritten_;  // viewed by head_; null: as received
    std::unique_ptr<BodyRewriter> rewriter_;        // null: the body is as received
    Charge rewriter_memory_;
    std::vector<std::string_view> received_pieces_;  // that rewriter_ has yet to take
    std::vector<std::string_view> pieces_;
    std::size_t pending_ = 0;  // bytes at the front of the buffer that pieces_ still view
    std::size_t interim_bytes_ = 0;
    ParseError malformed_ = ParseError::ok;
    bool got_bytes_ = false;
    bool eof_ = false;
    bool orderly_end_ = false;  // on a connection without a fault before
    bool broken_ = false;
    bool wrote_ = false;     // this system took bytes of the request
    bool vanished_ = false;  // see has_vanished()
    bool waits_for_late_ = false;
    bool sent_twice_ = false;
    std::optional<std::uint64_t> acknowledged_;  // before the request, on a reused connection
    bool abandoned_ = false;
    UpstreamPtr* owned_ = nullptr;  // of serve_owner()
    bool logs_in_ = false;
    bool of_client_ = false;  // the connection of head()
    bool may_upgrade_ = false;
    bool with_peer_ = false;
    bool first_read_ = true;  // of the body
    Charge read_ahead_;       // for a large buffer
    std::uint64_t* received_ = nullptr;
    WallTime request_time_{};
    Clock::time_point asked_at_{};  // request_time_ on the steady clock
    Arrival arrival_;
    std::string server_;
    std::uint32_t mark_ = 0;         // of the target
    bool announces_a_body_ = false;  // the head that answers HEAD
    Clock::duration time_to_head_{0};
    OpenSpan span_;
};

}  // namespace proxy
