#include "tests/cluster/tls_over.hpp"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <cstdlib>
#include <utility>

namespace proxy::test {

TlsOver::TlsOver(const std::string& ca, const std::string& name, const AnswerOptions& wishes)
    : host(name), context_(SSL_CTX_new(TLS_client_method()), SSL_CTX_free) {
    auto* const context = context_.get();
    SSL_CTX_load_verify_file(context, ca.c_str());
    SSL_CTX_set_verify(context, wishes.verify ? SSL_VERIFY_PEER : SSL_VERIFY_NONE, nullptr);
    SSL_CTX_set_alpn_protos(context,
                            reinterpret_cast<const unsigned char*>(wishes.protocols.data()),
                            static_cast<unsigned>(wishes.protocols.size()));
    if (wishes.highest_version != 0) {
        SSL_CTX_set_max_proto_version(context, wishes.highest_version);
        SSL_CTX_set_security_level(context, 0);
    }
    ssl_.reset(SSL_new(context), SSL_free);
    auto* const ssl = ssl_.get();
    SSL_set_bio(ssl, BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()));
    const auto& asked = wishes.server_name.empty() ? name : wishes.server_name;
    if (asked != "-") SSL_set_tlsext_host_name(ssl, asked.c_str());
    SSL_set1_host(ssl, name.c_str());
    if (wishes.session) SSL_set_session(ssl, wishes.session.get());
    SSL_set_connect_state(ssl);
}

std::string TlsOver::hello() {
    ERR_clear_error();
    SSL_do_handshake(ssl_.get());
    char* bytes = nullptr;
    const auto size = BIO_get_mem_data(SSL_get_wbio(ssl_.get()), &bytes);
    std::string out(bytes, static_cast<std::size_t>(size));
    (void)BIO_reset(SSL_get_wbio(ssl_.get()));
    return out;
}

/// Sends the output of OpenSSL.
bool TlsOver::flush() {
    char* bytes = nullptr;
    const auto size = BIO_get_mem_data(SSL_get_wbio(ssl_.get()), &bytes);
    if (size <= 0) return true;
    const std::string out(bytes, static_cast<std::size_t>(size));
    (void)BIO_reset(SSL_get_wbio(ssl_.get()));
    return line_.send(out);
}

bool TlsOver::connect(Line line) {
    line_ = std::move(line);
    for (;;) {
        ERR_clear_error();
        const auto result = SSL_do_handshake(ssl_.get());
        const auto error = SSL_get_error(ssl_.get(), result);
        const auto sent = flush();
        if (result == 1) return open_ = true;
        std::string came;
        if (error != SSL_ERROR_WANT_READ || !sent || !line_.receive(came)) return false;
        BIO_write(SSL_get_rbio(ssl_.get()), came.data(), static_cast<int>(came.size()));
    }
}

bool TlsOver::resumed() const {
    return SSL_session_reused(ssl_.get()) == 1;
}

std::string TlsOver::protocol() const {
    const unsigned char* protocol = nullptr;
    unsigned size = 0;
    SSL_get0_alpn_selected(ssl_.get(), &protocol, &size);
    return {reinterpret_cast<const char*>(protocol), size};
}

std::string TlsOver::certificate() const {
    auto* const peer = SSL_get0_peer_certificate(ssl_.get());
    const std::shared_ptr<GENERAL_NAMES> names(
        static_cast<GENERAL_NAMES*>(X509_get_ext_d2i(peer, NID_subject_alt_name, nullptr, nullptr)),
        GENERAL_NAMES_free);
    if (!names || sk_GENERAL_NAME_num(names.get()) == 0) return {};
    const auto* const first = sk_GENERAL_NAME_value(names.get(), 0)->d.dNSName;
    return {reinterpret_cast<const char*>(ASN1_STRING_get0_data(first)),
            static_cast<std::size_t>(ASN1_STRING_length(first))};
}

std::shared_ptr<SSL_SESSION> TlsOver::session() const {
    return {SSL_get1_session(ssl_.get()), SSL_SESSION_free};
}

bool TlsOver::send(std::string_view data) {
    ERR_clear_error();
    if (data.empty()) return true;
    return SSL_write(ssl_.get(), data.data(), static_cast<int>(data.size())) > 0 && flush();
}

bool TlsOver::receive(std::string& into) {
    for (;;) {
        char piece[16384];
        ERR_clear_error();
        const auto got = SSL_read(ssl_.get(), piece, sizeof piece);
        if (got > 0) {
            into.append(piece, static_cast<std::size_t>(got));
            return true;
        }
        std::string came;
        if (SSL_get_error(ssl_.get(), got) != SSL_ERROR_WANT_READ || !line_.receive(came))
            return false;
        BIO_write(SSL_get_rbio(ssl_.get()), came.data(), static_cast<int>(came.size()));
    }
}

bool TlsOver::was_told_the_end() {
    std::string rest;
    while (receive(rest)) continue;
    return (SSL_get_shutdown(ssl_.get()) & SSL_RECEIVED_SHUTDOWN) != 0;
}

Answer TlsOver::ask(std::string_view method, std::string_view target, std::string_view fields,
                    std::string_view body) {
    std::string head(method);
    head.append(" ").append(target).append(" HTTP/1.1\r\nHost: ").append(host).append("\r\n");
    if (!body.empty())
        head.append("Content-Length: ").append(std::to_string(body.size())).append("\r\n");
    send(head.append(fields).append("\r\n").append(body));
    return read();
}

Answer TlsOver::read() {
    return read_sized(input_, [this](std::string& into) { return receive(into); });
}

}  // namespace proxy::test
