#pragma once

#include <openssl/types.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "tests/cluster/certificates.hpp"
#include "tests/cluster/client.hpp"
#include "tests/cluster/sockets.hpp"

namespace proxy::test {

/// One end of a TLS connection over a blocking socket.
class TlsEnd {
public:
    TlsEnd() = default;
    /// Handshakes; not open() when that fails.
    TlsEnd(SSL_CTX* context, Socket socket, bool server, const std::string& name = {});

    bool open() const { return open_; }
    bool send(std::string_view data);
    /// Appends the bytes that are there; false at an end.
    bool receive(std::string& into);
    /// After receive() said false: the other side announced the end.
    bool was_told() const { return told_; }
    void close_notify();
    SSL* ssl() const { return ssl_.get(); }

    Socket socket;

private:
    std::shared_ptr<SSL> ssl_;
    bool open_ = false, told_ = false;
};

/// An origin that speaks TLS and answers as `script` says: the bytes to send after a request's
/// head. An answer with `Connection: close` ends its connection.
class TlsOrigin {
public:
    using Script = std::function<std::string(const std::string& head, const std::string& body)>;

    /// Both kinds speak TLS 1.2 and renegotiate after each request.
    enum class Habit { none, renegotiates, renegotiates_for_ever };

    TlsOrigin(const Certificates::Files& files, Script script, Habit habit = Habit::none);
    ~TlsOrigin();
    TlsOrigin(const TlsOrigin&) = delete;

    std::uint16_t port() const { return listener_.port(); }
    std::atomic<std::size_t> handshakes{0}, resumed{0}, requests{0}, renegotiations{0};
    std::atomic<bool> tell_end{true};  // false: connections end without a close_notify
    std::atomic<int> cuts{0};          // so many connections end before their handshake does
    std::atomic<bool> hang_up{false};  // every answer is the last of its connection, untold
    std::string last_name();           // of SNI
    std::string last_protocol();       // of ALPN

private:
    void accept_all();
    void serve(Socket socket);
    bool renegotiate(SSL* ssl);

    const Habit habit_;
    std::shared_ptr<SSL_CTX> context_;
    Script script_;
    Socket listener_;
    std::mutex mutex_;
    std::string name_, protocol_;
    std::list<int> open_;
    std::vector<std::thread> threads_;
    std::thread acceptor_;
};

/// A client that trusts `ca` and expects `name`; speaks HTTP/1.1 as Client does. `before`: sent in
/// the clear ahead of the handshake.
class TlsClientEnd {
public:
    TlsClientEnd(const std::string& address, std::uint16_t port, const std::string& ca,
                 const std::string& name, int highest_version = 0, std::string_view before = {});

    /// An answer with a Content-Length.
    Answer get(std::string_view target, std::string_view fields = {});
    Answer read();
    std::string protocol() const;  // of ALPN

    TlsEnd end;

private:
    std::shared_ptr<SSL_CTX> context_;
    std::string input_;
};

}  // namespace proxy::test
