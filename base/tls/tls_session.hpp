#pragma once

#include <openssl/types.h>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/tls/new_tls_context.hpp"
#include "base/tls/tls_line.hpp"

// As in <openssl/ssl.h>, which is a large header.
typedef struct ssl_session_st SSL_SESSION;

namespace base {

struct SslFree {
    void operator()(SSL* ssl) const;
    void operator()(SSL_SESSION* session) const;
};
using SslSessionPtr = std::unique_ptr<SSL_SESSION, SslFree>;

/// The first byte of a connection that begins with a TLS handshake (RFC 8446 §5.1).
inline constexpr char kTlsHandshake = 0x16;

/// Bytes that one TLS record takes (RFC 8446 §5.1).
inline constexpr std::size_t kTlsRecord = 16 * 1024;
/// Bytes that are worth one call of send().
inline constexpr std::size_t kTlsBatch = 5 * kTlsRecord;

/// The most bytes of TlsSession::present()'s session context.
inline constexpr std::size_t kTlsSessionContext = 32;

/// TLS over a connected TCP socket, which outlives it. Each step returns at once, and names the
/// event of the socket to wait for before its repetition. OpenSSL reads the socket itself.
/// Its records collect in a buffer of the thread, and go out in one call of send(). The session
/// holds records that the socket does not take. One thread at a time.
///
/// A session may lie above another one, through a proxy to a server: its records are the data of
/// the session below. Steps then name the events of the socket below.
class TlsSession : private TlsCarrier {
public:
    using Socket = boost::asio::ip::tcp::socket;

    /// `received`: the first bytes of the other side, where they were read from the socket before.
    TlsSession(SSL_CTX& context, TlsSide side, Socket& socket, std::string received = {});
    /// The client's side. `name`: name or address of the server, for SNI and the certificate.
    /// `resumed` may be null.
    TlsSession(SSL_CTX& context, std::string name, SslSessionPtr resumed, Socket& socket);
    /// The same through `below`, whose handshake is done. Nobody else uses that one afterwards.
    TlsSession(SSL_CTX& context, std::string name, SslSessionPtr resumed,
               std::unique_ptr<TlsSession> below);
    TlsSession(const TlsSession&) = delete;
    TlsSession& operator=(const TlsSession&) = delete;
    ~TlsSession() override;

    /// For the server's side, before handshake(): the certificate of this session alone, with its
    /// key. `session_context`, of kTlsSessionContext bytes at most: tickets resume no session of
    /// another one. False: OpenSSL refuses them.
    bool present(X509* certificate, EVP_PKEY* key, std::string_view session_context);

    enum class Step {
        done,
        wait_read,
        wait_write,
        end,     // the other side has announced its end
        failed,  // see why(); an end without announcement may be an attacker's cut
    };
    Step handshake();
    Step read(boost::asio::mutable_buffer into, std::size_t& got);
    /// Makes full records of the first bytes of `from`, `most` of them at most, for one call of
    /// send(). `sent`: bytes that have gone to the socket, also before a wait. After a wait the
    /// next call has to begin with the bytes behind them, at any address.
    Step write(std::span<const boost::asio::const_buffer> from, std::size_t most,
               std::size_t& sent);
    /// The same for one record.
    Step write(boost::asio::const_buffer from, std::size_t& sent);
    /// From here on OpenSSL keeps its buffers from one record to the next, 35 KiB in all. Without
    /// this call it has them only while it uses them.
    void keep_buffers();
    /// Undoes keep_buffers(), and frees them.
    void keep_no_buffers();
    /// Frees them until they are used again.
    void free_buffers();
    /// Both sides have agreed on HTTP/2 in the handshake (ALPN `h2`).
    bool chose_http2() const;
    /// The host that the client has asked for in the handshake (SNI); empty without one.
    std::string asked_name() const;
    /// Announces the end, if the socket takes the bytes at once.
    void close_notify();

    /// Whether bytes or the end wait in OpenSSL, for which the socket stays unreadable.
    bool has_pending() const;
    /// The reason of a failed step, for the log.
    const std::string& why() const { return why_; }
    bool met_plain_http() const { return met_plain_http_; }
    /// The bytes of the other side were no TLS.
    bool met_no_tls() const { return met_plain_http_ || met_no_tls_; }
    /// The other side does not trust the certificate of this one, as its alert says.
    bool was_mistrusted() const { return was_mistrusted_; }
    /// The failed step found no common version or parameters.
    bool found_no_version() const { return no_version_; }
    /// Whether the failed step found the connection cut, rather than refused.
    bool was_cut() const { return was_cut_; }
    /// One side has found no common parameters, such as a key (alert handshake_failure).
    bool found_nothing_in_common() const { return nothing_in_common_; }
    /// A session for the next connection to the same server, or null.
    SslSessionPtr take_ticket() { return std::move(ticket_); }
    /// OpenSSL's callback, for contexts of clients.
    static int keep_ticket(SSL* ssl, SSL_SESSION* ticket);

private:
    TlsSession(SSL_CTX& context, TlsSide side, TlsLine line);
    /// Sets the server's name, for SNI and its certificate, and the ticket.
    void expect(std::string name, SslSessionPtr resumed);
    // For a session above this one.
    ssize_t send(const char* data, std::size_t size) override;
    ssize_t receive(char* data, std::size_t size) override;
    Step after(int result);
    Step write_records(std::span<const boost::asio::const_buffer> from, std::size_t most);
    Step send_held(std::size_t& sent);
    std::size_t count_sent(std::size_t gone);
    Step fail_by_system();

    std::unique_ptr<TlsSession> below_;  // null: the line is the socket
    TlsLine line_;
    std::size_t unsent_ = 0;  // bytes of write(), in records that have not gone yet
    std::unique_ptr<SSL, SslFree> ssl_;
    SslSessionPtr ticket_;
    std::string why_;
    bool met_plain_http_ = false;
    bool was_cut_ = false;
    bool nothing_in_common_ = false;
    bool met_no_tls_ = false, was_mistrusted_ = false, no_version_ = false;
    bool failed_ = false;
};

// Steps with their waits. Errors: eof (announced), operation_aborted (cancelled), else
// connection_reset.
boost::asio::awaitable<void> tls_handshake(TlsSession::Socket& socket, TlsSession& tls,
                                           boost::system::error_code& ec);
boost::asio::awaitable<std::size_t> tls_read_some(TlsSession::Socket& socket, TlsSession& tls,
                                                  boost::asio::mutable_buffer into,
                                                  boost::system::error_code& ec);
/// Writes all bytes. Returns the number of written ones.
boost::asio::awaitable<std::size_t> tls_write(TlsSession::Socket& socket, TlsSession& tls,
                                              boost::asio::const_buffer from,
                                              boost::system::error_code& ec);
// One read or write of a connection without a wait, in the clear if `tls` is null. A read gives
// `end` also for an end that no TLS announces. A step that failed in the clear leaves its reason in
// errno.
TlsSession::Step read_now(TlsSession::Socket& socket, TlsSession* tls,
                          boost::asio::mutable_buffer into, std::size_t& got);
TlsSession::Step write_now(TlsSession::Socket& socket, TlsSession* tls,
                           boost::asio::const_buffer from, std::size_t& sent);

/// Whether a wait has to precede the next try.
constexpr bool waits(TlsSession::Step step) {
    return step == TlsSession::Step::wait_read || step == TlsSession::Step::wait_write;
}
/// Waits for the event that `step` names. Returns false if the wait was cancelled, or the socket
/// closed meanwhile.
boost::asio::awaitable<bool> wait_for_step(TlsSession::Socket& socket, TlsSession::Step step);

}  // namespace base
