#pragma once

#include <openssl/types.h>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <memory>
#include <string>
#include <string_view>

#include "proxy/net/tls_trust.hpp"

// As <openssl/ssl.h> has it, which is large.
typedef struct ssl_session_st SSL_SESSION;

namespace proxy {

struct SslFree {
    void operator()(SSL* ssl) const;
    void operator()(SSL_SESSION* session) const;
};
using SslSessionPtr = std::unique_ptr<SSL_SESSION, SslFree>;

/// TLS over a connected TCP socket, which must outlive it. No step blocks or waits; each says what
/// the socket is to be waited for before it is taken again. One thread. OpenSSL works on the socket
/// itself, so an idle connection holds no buffers, and bytes are copied once.
class TlsSession {
public:
    using Socket = boost::asio::ip::tcp::socket;

    /// The server's side.
    TlsSession(SSL_CTX& context, Socket& socket);
    /// The client's side. `host`: what is connected to, name or address. `resumed` may be null.
    TlsSession(const TlsClient& client, const std::string& host, SslSessionPtr resumed,
               Socket& socket);
    TlsSession(const TlsSession&) = delete;
    TlsSession& operator=(const TlsSession&) = delete;
    ~TlsSession();

    enum class Step {
        done,
        wait_read,
        wait_write,
        end,     // the other side said that nothing more comes
        failed,  // see why(); also an end that nobody announced, which may be an attacker's cut
    };
    Step handshake();
    Step read(boost::asio::mutable_buffer into, std::size_t& got);
    /// `sent` may be less than all. After a wait the same bytes must be given again, from wherever.
    Step write(boost::asio::const_buffer from, std::size_t& sent);
    /// Says that nothing more comes, if the socket takes that at once.
    void close_notify();

    /// Bytes, or the end, are waiting in OpenSSL: the socket will not become readable for them.
    bool has_pending() const;
    /// Why a step failed, for the log.
    const std::string& why() const { return why_; }
    bool met_plain_http() const { return met_plain_http_; }
    /// The step that failed found the connection cut: nothing was refused.
    bool was_cut() const { return was_cut_; }
    /// A session that the next connection to the same server can resume; null if it gave none.
    SslSessionPtr take_ticket() { return std::move(ticket_); }
    /// OpenSSL's callback, for contexts of clients.
    static int keep_ticket(SSL* ssl, SSL_SESSION* ticket);

private:
    Step after(int result);

    std::unique_ptr<SSL, SslFree> ssl_;
    SslSessionPtr ticket_;
    std::string why_;
    bool met_plain_http_ = false;
    bool was_cut_ = false;
    bool failed_ = false;
};

// Steps with their waits, until the socket is cancelled. Errors: eof (announced),
// operation_aborted, else connection_reset.
boost::asio::awaitable<void> tls_handshake(TlsSession::Socket& socket, TlsSession& tls,
                                           boost::system::error_code& ec);
boost::asio::awaitable<std::size_t> tls_read_some(TlsSession::Socket& socket, TlsSession& tls,
                                                  boost::asio::mutable_buffer into,
                                                  boost::system::error_code& ec);
/// All of it.
boost::asio::awaitable<std::size_t> tls_write(TlsSession::Socket& socket, TlsSession& tls,
                                              boost::asio::const_buffer from,
                                              boost::system::error_code& ec);
/// Waits for what `step` wants; false when the wait was cancelled.
boost::asio::awaitable<bool> wait_for_step(TlsSession::Socket& socket, TlsSession::Step step);

}  // namespace proxy
