#pragma once

#include <openssl/ssl.h>

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "tests/cluster/client.hpp"

namespace proxy::test {

/// A TLS client over any line of bytes: a socket, another TLS connection, a stream of HTTP/2. It
/// trusts `ca`, and speaks HTTP/1.1.
class TlsOver {
public:
    struct Line {
        std::function<bool(std::string_view)> send;
        std::function<bool(std::string&)> receive;  // appends; false at the end
    };
    struct AnswerOptions {
        std::string server_name{};  // of SNI, if it differs from the name to verify; `-`: none
        bool verify = true;
        int highest_version = 0;
        std::shared_ptr<SSL_SESSION> session{};
        std::string_view protocols = "\x08http/1.1";
    };

    TlsOver(const std::string& ca, const std::string& name) : TlsOver(ca, name, AnswerOptions()) {}
    TlsOver(const std::string& ca, const std::string& name, const AnswerOptions& wishes);

    /// The ClientHello, to be sent before connect().
    std::string hello();
    /// Goes on with the handshake.
    bool connect(Line line);
    bool open() const { return open_; }
    bool resumed() const;
    std::string protocol() const;     // of ALPN
    std::string certificate() const;  // its first DNS name
    std::shared_ptr<SSL_SESSION> session() const;

    bool send(std::string_view data);
    bool receive(std::string& into);
    Answer ask(std::string_view method, std::string_view target, std::string_view fields = {},
               std::string_view body = {});
    Answer get(std::string_view target, std::string_view fields = {}) {
        return ask("GET", target, fields);
    }
    Answer read();
    /// The other side has ended the connection, and said so.
    bool was_told_the_end();

    std::string host;  // of requests

private:
    bool flush();

    std::shared_ptr<SSL_CTX> context_;
    std::shared_ptr<SSL> ssl_;
    Line line_;
    std::string input_;
    bool open_ = false;
};

}  // namespace proxy::test
