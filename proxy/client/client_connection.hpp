#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <memory>
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
    ClientConnection(ClientService& service, AcceptedConnection client);
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
    /// Waits for the next request's head and moves it to head_bytes(). `refused`: the bytes so far
    /// cannot become a good head, and refusal() has the reason.
    boost::asio::awaitable<ReadResult> receive_head();
    ParseError refusal() const { return refusal_; }
    std::string_view head_bytes() const { return head_bytes_; }
    /// The first bytes begin a TLS handshake at a listener without TLS, as a peer does that
    /// encrypts. `received`: what receive_head() made of them.
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
    bool broken() const { return broken_; }
    /// Has the client left? For a caller that waits for something else, each
    /// DisconnectDetector::kLook.
    bool has_left() {
        return response_.departure.has_left(look_at_line(socket_.native_handle()), response_.bytes,
                                            DisconnectDetector::Clock::now());
    }

    // For a tunnel, while no coroutine waits here.
    boost::asio::ip::tcp::socket& socket() { return socket_; }
    base::TlsSession* tls() { return tls_.get(); }  // null: in the clear
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
    void wake_at_end(std::shared_ptr<base::Wakeup> wakeup) { wakeup_ = std::move(wakeup); }
    /// The event to wait for after send_now() has sent a part.
    base::TlsSession::Step send_wants() const {
        return tls_ ? tls_sending_.wants : base::TlsSession::Step::wait_write;
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
    void begin_response() {
        response_.begin();
        body_.pace.begin();
    }
    std::uint64_t response_bytes() const { return response_.bytes; }
    /// Ends the connection so that the client sees a reset, not an end.
    void reset();
    /// True once the node leaves: this connection ends after the present response.
    bool ending() const { return ending_; }
    /// The address of the client without scope (base::plain_address), or the one in the PROXY
    /// header.
    const boost::asio::ip::address& remote_address() const { return remote_; }

    bool encrypted() const override { return tls_ != nullptr; }
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
    /// Frees the buffers of OpenSSL when no bytes have passed for kKept.
    class BufferWatch final : public base::TimerWheel::Timer {
    public:
        /// `session`: of the connection, as long as it has one.
        BufferWatch(base::TimerWheel& wheel, const std::unique_ptr<base::TlsSession>& session)
            : wheel_(wheel), session_(session) {}
        /// Bytes pass.
        void note_use();

    private:
        static constexpr std::chrono::seconds kKept{1};

        void expire() override;

        base::TimerWheel& wheel_;
        const std::unique_ptr<base::TlsSession>& session_;
        bool watches_ = false, is_used_ = false;
    };

    /// What the client takes of the response at hand.
    struct ResponseProgress {
        std::uint64_t bytes = 0;  // that were sent
        ResponsePace pace;
        DisconnectDetector departure;

        void begin() {
            bytes = 0;
            pace.begin();
            departure.begin();
        }
    };

    /// What the client gives of the bodies of its requests.
    struct BodyProgress {
        std::int64_t bytes = 0;
        base::Pace pace;
    };

    /// The state of writing to the TLS session.
    struct TlsSending {
        base::TlsSession::Step wants = base::TlsSession::Step::done;  // of the last write
        base::Charge batch_room;  // for records that the session may hold, beyond one

        /// The bytes that one write may have. A long response has several records in one write,
        /// where there is room for those that the socket does not take.
        std::size_t most_of(const std::vector<boost::asio::const_buffer>& buffers,
                            base::MemoryBudget& windows);
    };

    void expire() override;
    void arm(std::chrono::nanoseconds timeout);
    boost::asio::awaitable<std::size_t> read(boost::system::error_code& ec);
    bool end_read(std::size_t bytes, const boost::system::error_code& ec);
    boost::asio::awaitable<bool> read_some();
    boost::asio::awaitable<bool> read_exactly(std::string& out, std::size_t bytes);
    boost::asio::awaitable<bool> read_line(std::string& out, std::size_t most);
    bool send_tls_now(std::vector<boost::asio::const_buffer>& buffers);
    void arm(base::Pace& pace, std::int64_t moved);
    template <class Moved>
    bool fast_enough(base::Pace& pace, Moved moved);
    void begin_end();
    void note_failed_intercept();

    ClientService& service_;
    boost::asio::ip::tcp::socket socket_;
    Scheme scheme_;
    std::unique_ptr<InterceptedConnect> inside_;
    std::unique_ptr<base::TlsSession> tls_;
    TlsSending tls_sending_;
    BufferWatch buffer_watch_;
    base::ReadBuffer input_;
    std::string head_bytes_;
    ParseError refusal_ = ParseError::ok;
    boost::asio::ip::address remote_;
    bool first_read_ = true;  // nothing was read yet
    bool idle_ = true;        // waits for the first byte of a request
    bool ending_;
    ResponseProgress response_;
    BodyProgress body_;
    bool expired_ = false;
    bool gave_way_ = false;  // another connection has its place
    bool broken_ = false;
    std::shared_ptr<base::Wakeup> wakeup_;  // of wake_at_end()
};

}  // namespace proxy
