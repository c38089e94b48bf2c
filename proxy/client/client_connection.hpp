#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/async/pace.hpp"
#include "base/async/wakeup.hpp"
#include "base/memory/kept_memory.hpp"
#include "base/memory/memory.hpp"
#include "base/memory/read_buffer.hpp"
#include "base/tls/tls_session.hpp"
#include "proxy/client/shared_pace.hpp"
#include "proxy/http/cache_key.hpp"
#include "proxy/http/message_parser.hpp"
#include "proxy/request/accepted_connection.hpp"
#include "proxy/request/client_service.hpp"
#include "proxy/request/disconnect_detector.hpp"
#include "proxy/request/intercepted_connect.hpp"
#include "proxy/storage/fill.hpp"

namespace proxy {

class RecordBody;

/// The bytes of one client connection: it receives heads and bodies and sends buffers, and each
/// wait has a deadline. One thread, one coroutine.
class ClientConnection final : public ClientService::Connection {
public:
    /// An https connection speaks TLS and begins with handshake().
    ClientConnection(ClientService& service, AcceptedConnection&& client);
    ~ClientConnection() override;

    Scheme scheme() const { return scheme_; }
    enum class ProxyHeaderRead {
        good,
        missing,  // other bytes have come, which are in input() then
        bad,      // malformed, cut off or late
        nothing,  // the connection has ended without a byte
        refused,  // the client's address has as many connections as it may have
    };
    /// Reads the PROXY header with which this connection begins; remote_address() is the address
    /// in it afterwards. Called before handshake().
    boost::asio::awaitable<ProxyHeaderRead> receive_proxy_header();

    enum class Handshake { done, failed, plain_http };
    /// After plain_http the connection goes on in the clear, for a response that says so.
    boost::asio::awaitable<Handshake> handshake();

    enum class ReadResult { head, closed, timed_out, refused };
    /// Begins to wait for the next request's head, and moves it to head_bytes() if it has come.
    /// Nothing: the caller awaits read(), and gives its result to go_on_with_head(), until one of
    /// both has a result. This spares each request a coroutine.
    /// `refused`: the bytes so far cannot become a good head, and refusal() has the reason.
    std::optional<ReadResult> begin_head();
    boost::asio::awaitable<std::size_t> read(boost::system::error_code& ec);
    std::optional<ReadResult> go_on_with_head(std::size_t bytes,
                                              const boost::system::error_code& ec);
    ParseError refusal() const;
    std::string_view head_bytes() const { return head_bytes_; }
    /// The first bytes begin a TLS handshake at a listener without TLS, as a peer does that
    /// encrypts. `received`: what became of the head.
    bool begins_handshake(ReadResult received) const;
    /// That handshake, by a key of the cluster. Precondition: TlsContexts::peers.
    boost::asio::awaitable<Handshake> peer_handshake(ReadResult received);
    /// The connection goes on as that of the requests inside a CONNECT, with bytes that have come
    /// already, and handshake() follows. False: OpenSSL refuses the certificate.
    bool begin_intercepted(std::unique_ptr<InterceptedConnect> inside);
    /// Null outside of one.
    const InterceptedConnect* inside() const { return inside_.get(); }
    std::size_t kept_bytes() const { return head_bytes_.capacity(); }
    void give_back() { base::give_back(head_bytes_); }  // with what views them

    /// Waits for bytes of the request's body. False when the client sends none any more, or fewer
    /// than limits.client_rate_min.
    boost::asio::awaitable<bool> receive_more();
    /// Ends a waiting receive_more(), as if the client sent no more; the next one waits again.
    void interrupt();
    base::ReadBuffer& input() { return input_; }

    /// Sends all of `buffers` (which is left empty); false when the client is gone or takes less
    /// than limits.client_rate_min.
    boost::asio::awaitable<bool> send(std::vector<boost::asio::const_buffer>& buffers);
    /// Sends as much as the socket takes at once, and nothing once broken(). True when that was
    /// everything; else `buffers` holds the rest, or is empty and broken() is set.
    bool send_now(std::vector<boost::asio::const_buffer>& buffers);
    struct FileSent {
        std::uint64_t bytes = 0;  // that went out
        bool unreadable = false;  // the file is the reason for a smaller number
    };
    /// The same for bytes that the page cache has; not by TLS.
    FileSent send_file_now(const RecordBody& file, std::uint64_t offset, std::uint64_t bytes);
    /// Waits until the socket takes bytes again; false as with send(). `reader`: that of
    /// ResponseWriter::write_rest().
    boost::asio::awaitable<bool> wait_to_send(const Fill::Reader* reader = nullptr);
    bool broken() const { return output_ != Output::open; }
    /// The client takes too little. The connection ends by a reset, which frees the kernel's bytes.
    void cut_slow_client() { output_ = Output::too_slow; }
    /// Has the client left? For a caller that waits for something else, each
    /// DisconnectDetector::kLook.
    bool has_left() {
        return progress_.departure.has_left(look_at_line(socket_.native_handle()),
                                            progress_.sent_bytes, DisconnectDetector::Clock::now());
    }

    // For a tunnel, while no coroutine waits here.
    boost::asio::ip::tcp::socket& socket() { return socket_; }
    base::TlsSession* tls() { return tls_.session(); }  // null: in the clear
    /// The client has chosen HTTP/2 in the handshake.
    bool chose_http2() const { return tls_ && tls_->chose_http2(); }

    // For a protocol with several requests at a time, which has deadlines of its own.
    /// Waits for bytes, and appends them to input(). False at the end of the connection, or when
    /// others get its place.
    boost::asio::awaitable<bool> receive_some() { return read_some(); }
    /// No request is served: the connection ends after timeouts.keep_alive, and earlier when others
    /// need its place.
    void begin_idle();
    /// A request is served, or comes.
    void end_idle();
    /// The head of a request has begun, and has to come within timeouts.client_head.
    void expect_head();
    /// Notified when the connection is to end.
    void wake_at_end(std::shared_ptr<base::Wakeup> wakeup) {
        retirement_.wakeup = std::move(wakeup);
    }
    /// The event to wait for after send_now() has sent a part.
    base::TlsSession::Step send_wants() const {
        return tls_ ? tls_.wants() : base::TlsSession::Step::wait_write;
    }
    /// Bytes of responses that have left this host: what the kernel still holds was not taken, and
    /// it holds so much that a slow client's socket takes nothing for minutes.
    std::int64_t taken();
    int held_by_kernel();  // bytes that were sent and not acknowledged

    /// The kernel still has bytes for the client. A close would lose them if the client sends
    /// anything before it has taken them.
    bool holds_response();

    /// Ends the connection so that the client still reads the response: the connection closes one
    /// half, and drops the bytes that still come (RFC 9112 §9.6): as long as it holds_response()
    /// and the client takes it fast enough, and a moment more. With `unread_body` it drops the rest
    /// of a body for 30 s, as long as the client is not too slow.
    boost::asio::awaitable<void> linger(bool unread_body = false);
    /// The same without a wait, when the client sends nothing any more.
    void part();

    /// Counts the bytes that are sent from here on.
    void begin_response() { progress_.begin(); }
    std::uint64_t response_bytes() const { return progress_.sent_bytes; }
    /// Ends the connection so that the client sees a reset, not an end.
    void reset();
    /// True once the node leaves: this connection ends after the present response.
    bool ending() const { return retirement_.begun; }
    /// The address of the client without scope (base::plain_address), or the one in the PROXY
    /// header.
    const boost::asio::ip::address& remote_address() const { return remote_; }

    bool encrypted() const override { return static_cast<bool>(tls_); }
    bool from_this_host() const override;
    void retire() override;
    void drain() override;
    void give_way() override {
        gave_way_ = true;
        expire();
    }
    /// It is no stranger, and lost segments are sent again soon.
    void peer_proven() override;

private:
    /// Whether the socket takes bytes.
    enum class Output : std::uint8_t { open, broken, too_slow };

    /// The TLS session of the connection, while it has one, with the memory that the session uses.
    /// It frees the buffers of OpenSSL when no bytes have passed for kKept.
    class TlsLayer final : base::TimerWheel::Timer {
    public:
        using Step = base::TlsSession::Step;

        explicit TlsLayer(base::TimerWheel& wheel) : wheel_(wheel) {}

        void open(std::unique_ptr<base::TlsSession> session) { session_ = std::move(session); }
        void reset() { session_.reset(); }
        base::TlsSession* session() const { return session_.get(); }
        explicit operator bool() const { return session_ != nullptr; }
        base::TlsSession& operator*() const { return *session_; }
        base::TlsSession* operator->() const { return session_.get(); }

        /// Bytes pass.
        void note_use();
        /// The bytes that one write may have. A long response has several records in one write,
        /// where there is room for those that the socket does not take.
        std::size_t most_of(const std::vector<boost::asio::const_buffer>& buffers,
                            base::MemoryBudget& windows);
        Step write(const std::vector<boost::asio::const_buffer>& buffers, std::size_t most,
                   std::size_t& sent) {
            return wants_ = session_->write(buffers, most, sent);
        }
        /// The socket has taken all that was written.
        void end_batch() { batch_room_ = base::Charge(); }
        Step wants() const { return wants_; }

    private:
        static constexpr std::chrono::seconds kKept{1};

        void expire() override;

        base::TimerWheel& wheel_;
        std::unique_ptr<base::TlsSession> session_;
        base::Charge batch_room_;  // for records that the session may hold, beyond one
        Step wants_ = Step::done;  // of the last write
        bool watches_ = false, is_used_ = false;
    };

    /// What the client takes of the response at hand, and gives of the bodies of its requests.
    struct TransferProgress {
        std::uint64_t sent_bytes = 0;
        ResponsePace sending;
        DisconnectDetector departure;
        std::int64_t received_bytes = 0;  // of all bodies
        base::Pace receiving;

        /// With the next response.
        void begin() {
            sent_bytes = 0;
            sending.begin();
            departure.begin();
            receiving.begin();
        }
    };

    /// The end of the connection after the response at hand, which the node asks for.
    struct Retirement {
        bool begun;
        std::shared_ptr<base::Wakeup> wakeup{};  // of wake_at_end()

        void begin() {
            begun = true;
            if (wakeup) wakeup->notify();
        }
    };

    void expire() override;
    void arm(std::chrono::nanoseconds timeout);
    std::optional<ReadResult> take_head();
    bool end_read(std::size_t bytes, const boost::system::error_code& ec);
    boost::asio::awaitable<bool> read_some();
    boost::asio::awaitable<bool> read_exactly(std::string& out, std::size_t bytes);
    boost::asio::awaitable<bool> read_line(std::string& out, std::size_t most);
    bool send_tls_now(std::vector<boost::asio::const_buffer>& buffers);
    void arm(base::Pace& pace, std::int64_t moved);
    template <class Moved>
    bool fast_enough(base::Pace& pace, Moved moved);
    void note_failed_intercept();

    ClientService& service_;
    boost::asio::ip::tcp::socket socket_;
    Scheme scheme_;
    std::unique_ptr<InterceptedConnect> inside_;
    TlsLayer tls_;
    base::ReadBuffer input_;
    std::string head_bytes_;
    std::size_t scanned_ = 0;  // of input_, for the end of a head
    boost::asio::ip::address remote_;
    bool first_read_ = true;  // nothing was read yet
    bool idle_ = true;        // waits for the first byte of a request
    Retirement retirement_;
    TransferProgress progress_;
    bool expired_ = false;
    bool gave_way_ = false;  // another connection has its place
    Output output_ = Output::open;
};

}  // namespace proxy
