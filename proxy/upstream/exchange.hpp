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
#include "proxy/http/received_head.hpp"
#include "proxy/http/redirects.hpp"
#include "proxy/telemetry/span.hpp"
#include "proxy/upstream/mirrored_response.hpp"
#include "proxy/upstream/request_delivery.hpp"
#include "proxy/upstream/response_reader.hpp"
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

/// What the sender of a request decides about its Exchange.
struct ExchangeTerms {
    /// Awaited for each interim head that comes before the final one (RFC 9110 §15.2). Without it
    /// they are dropped.
    std::function<boost::asio::awaitable<void>(const Head&)> on_interim = nullptr;
    std::uint64_t* received_bytes = nullptr;  // counts the decoded bytes of the body
    /// Set: the requests are those of one client connection. It has the upstream connection that
    /// belongs to that client, or gets it (UpstreamConnection::is_of_client()). Null: such a
    /// connection closes after the response.
    UpstreamPtr* owned = nullptr;
    bool logs_in = false;      // the request logs its connection in
    bool with_peer = false;    // the upstream is a peer: its connections recover_quickly()
    bool may_upgrade = false;  // a 101 is a final head
    /// The request must not be executed twice, so the silence of a kept connection does not end it:
    /// packets that are late, and not lost, would still arrive before those of the abort.
    bool waits_for_late_packets = false;
};

/// The bytes that one read takes from an upstream while a body comes. One thread.
class ReadWindow {
public:
    /// The bytes for the next read, of which a large number is charged to `windows`.
    std::size_t next(base::MemoryBudget& windows);
    void close() { charge_ = base::Charge(); }

private:
    bool first_ = true;
    base::Charge charge_;
};

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

    Exchange(UpstreamPool& pool, const HeadLimits& limits, ExchangeTerms terms = {})
        : pool_(pool), terms_(std::move(terms)), reader_(limits) {}
    ~Exchange();
    Exchange(const Exchange&) = delete;
    Exchange& operator=(const Exchange&) = delete;

    struct Patience {
        Clock::time_point connect;                            // deadline of name and connection
        Clock::duration head;                                 // from sending to the head
        Clock::time_point latest = Clock::time_point::max();  // deadline of the head in any case
    };

    /// They hold for the requests that follow.
    ExchangeTerms& terms() { return terms_; }

    /// The span of the request, which ends with the response. A request that follows takes its
    /// place.
    void trace(OpenSpan span) { span_ = std::move(span); }
    OpenSpan& span() { return span_; }

    /// The response came by a connection of one client, so it is for that client alone.
    bool is_of_client() const { return sender_.of_client; }

    /// Sends the request and waits for the final head. On success head() is set.
    boost::asio::awaitable<FetchError> run(const UpstreamTarget& target, const Request& request,
                                           Patience patience);

    // The steps of run(), for requests with a body.
    boost::asio::awaitable<FetchError> connect(const UpstreamTarget& target,
                                               Clock::time_point deadline, ConnectionReuse kept);
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
    bool reused() const { return connection_ && connection_->is_used(); }
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
    bool heard_answer() const { return delivery_.is_answered(); }
    /// The connection can carry another request after this response.
    bool keep_alive() const { return reader_.keep_alive(); }
    /// The framing shows the end of the body: a length, chunks, or no body.
    bool has_framing() const { return reader_.has_framing(); }

    const Head& head() const { return reader_.head(); }
    /// The fault of a malformed response.
    ParseError malformed() const { return reader_.malformed(); }
    std::optional<std::uint64_t> content_length() const;
    /// From sending the request, on the connection that answered, to the head.
    Clock::duration time_to_head() const { return arrival_.steady - asked_.steady; }
    const Arrival& arrival() const { return arrival_; }  // of the head
    /// Address of the sender of the head: `10.0.0.7:8080`, `[::1]:80`.
    const base::AddressText& server() const { return sender_.address; }
    /// The sender's Retry-After, as a time; no request should go out before.
    std::optional<Clock::time_point> not_before() const;
    /// The head with the time of its request.
    ReceivedHead received() const;
    /// The response came by these redirects, or is the last of them: head() has the fields that
    /// they give it from now on.
    void came_by(std::shared_ptr<const Redirects> redirects) {
        reader_.head().fields = redirects->fields();
        redirects_ = std::move(redirects);
    }
    /// Gives the response the head that clients of a mirror get.
    void take_head(std::shared_ptr<const HeadRewrite> head);
    bool is_rewritten() const { return mirrored_.has_head(); }
    /// From now on read_body() gives what `rewriter` makes of the body, and its length is unknown.
    /// `charge`: for the memory of `rewriter`.
    void rewrite_body(std::unique_ptr<BodyRewriter> rewriter, base::Charge charge);
    /// The redirects that were followed to it.
    unsigned redirects() const { return redirects_ ? redirects_->count() : 0; }

    /// The body ended as its framing said.
    bool done() const { return reader_.is_done() && mirrored_.is_done(); }
    /// Waits for more of the body and decodes it into pieces(), which are valid until the next
    /// call. Without an error and without pieces the body is done(), or the caller calls again.
    boost::asio::awaitable<FetchError> read_body(Clock::time_point deadline) {
        return mirrored_.has_body() ? read_rewritten(deadline) : read_received(deadline);
    }
    std::span<const std::string_view> pieces() const { return reader_.pieces(); }
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

    /// Of the head.
    struct Sender {
        base::AddressText address;
        std::uint32_t mark = 0;  // in a group: UpstreamTarget::mark
        bool of_client = false;  // by a connection of one client
    };

    boost::asio::awaitable<FetchError> acquire(const UpstreamTarget& target,
                                               Clock::time_point deadline, ConnectionReuse kept);
    bool take_kept(const UpstreamTarget& target, ConnectionReuse kept);
    FetchError begin_on_connection(const UpstreamTarget& target, ConnectionReuse kept);
    boost::asio::awaitable<FetchError> read_received(Clock::time_point deadline);
    boost::asio::awaitable<FetchError> read_rewritten(Clock::time_point deadline);
    boost::asio::awaitable<FetchError> read_some(std::size_t least);
    bool has_vanished() const;
    void give_up();
    FetchError vanish();
    int socket() const { return connection_->socket.native_handle(); }

    UpstreamPool& pool_;
    ExchangeTerms terms_;
    UpstreamPtr connection_;
    std::shared_ptr<Listener> listener_;  // its wait may outlive this
    RequestDelivery delivery_;            // of the request on connection_
    ResponseReader reader_;
    std::shared_ptr<const Redirects> redirects_;  // null: none
    MirroredResponse mirrored_;
    ReadWindow window_;
    Arrival asked_;    // the moment before the request was sent
    Arrival arrival_;  // of the head
    Sender sender_;
    bool sent_twice_ = false;
    bool abandoned_ = false;
    OpenSpan span_;
};

}  // namespace proxy
