#include "tests/cluster/tls_kit.hpp"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <stdexcept>

namespace proxy::test {
namespace {

constexpr unsigned char kHttp1[] = {8, 'h', 't', 't', 'p', '/', '1', '.', '1'};
constexpr unsigned char kOffered[] = {2, 'h', '2', 8, 'h', 't', 't', 'p', '/', '1', '.', '1'};

void check(bool good, const char* what) {
    if (!good) throw std::runtime_error(what);
}

/// A write to a connection that was reset must not end the program. The nodes under test run on
/// other threads, and have to see to that themselves.
void block_sigpipe() {
    sigset_t set;
    ::sigemptyset(&set);
    ::sigaddset(&set, SIGPIPE);
    ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
}

}  // namespace

TlsEnd::TlsEnd(SSL_CTX* context, Socket connected, bool server, const std::string& name)
    : socket(std::move(connected)), ssl_(SSL_new(context), SSL_free) {
    SSL_set_fd(ssl_.get(), socket.descriptor());
    if (!name.empty()) {
        SSL_set_tlsext_host_name(ssl_.get(), name.c_str());
        SSL_set1_host(ssl_.get(), name.c_str());
    }
    ERR_clear_error();
    open_ = (server ? SSL_accept(ssl_.get()) : SSL_connect(ssl_.get())) == 1;
}

bool TlsEnd::send(std::string_view data) {
    ERR_clear_error();
    return data.empty() || SSL_write(ssl_.get(), data.data(), static_cast<int>(data.size())) > 0;
}

bool TlsEnd::receive(std::string& into) {
    char piece[16384];
    ERR_clear_error();
    const auto got = SSL_read(ssl_.get(), piece, sizeof piece);
    if (got > 0) into.append(piece, static_cast<std::size_t>(got));
    if (got <= 0) told_ = SSL_get_error(ssl_.get(), got) == SSL_ERROR_ZERO_RETURN;
    return got > 0;
}

void TlsEnd::close_notify() {
    SSL_shutdown(ssl_.get());
}

TlsOrigin::TlsOrigin(const Certificates::Files& files, Script script, Habit habit)
    : habit_(habit),
      context_(SSL_CTX_new(TLS_server_method()), SSL_CTX_free),
      script_(std::move(script)),
      listener_(Socket::listen("127.0.0.1", 0)) {
    check(SSL_CTX_use_certificate_chain_file(context_.get(), files.certificate.c_str()) == 1 &&
              SSL_CTX_use_PrivateKey_file(context_.get(), files.key.c_str(), SSL_FILETYPE_PEM) == 1,
          "certificate of the origin");
    SSL_CTX_set_alpn_select_cb(
        context_.get(),
        [](SSL*, const unsigned char** out, unsigned char* size, const unsigned char* in,
           unsigned in_size, void*) {
            unsigned char* chosen = nullptr;
            if (SSL_select_next_proto(&chosen, size, kOffered, sizeof kOffered, in, in_size) !=
                OPENSSL_NPN_NEGOTIATED)
                return SSL_TLSEXT_ERR_NOACK;
            *out = chosen;
            return SSL_TLSEXT_ERR_OK;
        },
        nullptr);
    if (habit_ != Habit::none) {
        SSL_CTX_set_max_proto_version(context_.get(), TLS1_2_VERSION);
        SSL_CTX_set_verify(context_.get(), SSL_VERIFY_PEER, nullptr);
        constexpr unsigned char kContext[] = {1};
        SSL_CTX_set_session_id_context(context_.get(), kContext, sizeof kContext);
        SSL_CTX_clear_mode(context_.get(), SSL_MODE_AUTO_RETRY);
    }
    acceptor_ = std::thread([this] { accept_all(); });
}

/// Asks the client for a certificate, which it need not have.
bool TlsOrigin::renegotiate(SSL* ssl) {
    do {
        ERR_clear_error();
        if (SSL_renegotiate(ssl) != 1 || SSL_do_handshake(ssl) != 1) return false;
        while (SSL_renegotiate_pending(ssl) == 1 || SSL_in_init(ssl) == 1) {
            char byte;
            const auto result = SSL_peek(ssl, &byte, 1);
            if (result <= 0 && SSL_get_error(ssl, result) != SSL_ERROR_WANT_READ) return false;
            if (SSL_get_shutdown(ssl) != 0) return false;
        }
        ++renegotiations;
    } while (habit_ == Habit::renegotiates_for_ever);
    return true;
}

TlsOrigin::~TlsOrigin() {
    listener_.shut();
    acceptor_.join();
    {
        const std::lock_guard lock(mutex_);
        for (const auto fd : open_) ::shutdown(fd, SHUT_RDWR);
    }
    for (auto& thread : threads_) thread.join();
}

std::string TlsOrigin::last_name() {
    const std::lock_guard lock(mutex_);
    return name_;
}
std::string TlsOrigin::last_protocol() {
    const std::lock_guard lock(mutex_);
    return protocol_;
}

void TlsOrigin::accept_all() {
    block_sigpipe();
    for (;;) {
        auto socket = listener_.accept();
        if (!socket.open()) return;
        threads_.emplace_back([this, accepted = std::make_shared<Socket>(std::move(socket))] {
            serve(std::move(*accepted));
        });
    }
}

void TlsOrigin::serve(Socket socket) {
    if (cuts > 0 && cuts-- > 0) {
        std::string hello;
        socket.receive(hello);
        return;
    }
    std::list<int>::iterator place;
    {
        const std::lock_guard lock(mutex_);
        place = open_.insert(open_.end(), socket.descriptor());
    }
    TlsEnd end(context_.get(), std::move(socket), true);
    if (end.open()) {
        ++handshakes;
        if (SSL_session_reused(end.ssl())) ++resumed;
        const std::lock_guard lock(mutex_);
        const auto* name = SSL_get_servername(end.ssl(), TLSEXT_NAMETYPE_host_name);
        name_ = name ? name : "";
        const unsigned char* protocol = nullptr;
        unsigned size = 0;
        SSL_get0_alpn_selected(end.ssl(), &protocol, &size);
        protocol_.assign(reinterpret_cast<const char*>(protocol), size);
    }
    std::string input;
    auto goes_on = end.open();
    while (goes_on) {
        std::size_t head = 0;
        while (goes_on && (head = input.find("\r\n\r\n")) == std::string::npos)
            goes_on = end.receive(input);
        if (!goes_on) break;
        const auto request = input.substr(0, head + 2);
        const auto length = std::strtoull(field_of(request, "Content-Length").c_str(), nullptr, 10);
        input.erase(0, head + 4);
        while (goes_on && input.size() < length) goes_on = end.receive(input);
        if (habit_ != Habit::none && !renegotiate(end.ssl())) break;
        ++requests;
        const auto answer = script_(request, input.substr(0, length));
        input.erase(0, length);
        goes_on = end.send(answer) && !hang_up && field_of(answer, "Connection") != "close";
    }
    if (end.open() && tell_end) end.close_notify();
    const std::lock_guard lock(mutex_);
    open_.erase(place);
    end.socket.close();
}

TlsClientEnd::TlsClientEnd(const std::string& address, std::uint16_t port, const std::string& ca,
                           const std::string& name, int highest_version, std::string_view before)
    : context_(SSL_CTX_new(TLS_client_method()), SSL_CTX_free) {
    check(SSL_CTX_load_verify_file(context_.get(), ca.c_str()) == 1, "CA of the client");
    SSL_CTX_set_verify(context_.get(), SSL_VERIFY_PEER, nullptr);
    SSL_CTX_set_alpn_protos(context_.get(), kHttp1, sizeof kHttp1);
    if (highest_version != 0) {
        SSL_CTX_set_max_proto_version(context_.get(), highest_version);
        SSL_CTX_set_security_level(context_.get(), 0);
    }
    auto socket = Socket::connect(address, port);
    if (!before.empty()) socket.send(before);
    end = TlsEnd(context_.get(), std::move(socket), false, name);
}

Answer TlsClientEnd::get(std::string_view target, std::string_view fields) {
    end.send(std::string("GET ")
                 .append(target)
                 .append(" HTTP/1.1\r\nHost: origin.test\r\n")
                 .append(fields)
                 .append("\r\n"));
    return read();
}

Answer TlsClientEnd::read() {
    return read_sized(input_, [this](std::string& into) { return end.receive(into); });
}

std::string TlsClientEnd::protocol() const {
    const unsigned char* protocol = nullptr;
    unsigned size = 0;
    SSL_get0_alpn_selected(end.ssl(), &protocol, &size);
    return {reinterpret_cast<const char*>(protocol), size};
}

}  // namespace proxy::test
