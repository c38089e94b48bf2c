#include "base/tls/new_tls_context.hpp"

#include <openssl/err.h>
#include <openssl/ssl.h>

#include <new>
#include <system_error>

namespace base {

std::shared_ptr<SSL_CTX> new_tls_context(TlsSide side) {
    const auto* const method = side == TlsSide::server ? TLS_server_method() : TLS_client_method();
    std::shared_ptr<SSL_CTX> context(SSL_CTX_new(method), SSL_CTX_free);
    if (!context) throw std::bad_alloc();
    auto* const raw = context.get();
    SSL_CTX_set_min_proto_version(raw, TLS1_2_VERSION);
    // A client's renegotiation would serve attacks only; compression enabled one (CRIME).
    SSL_CTX_set_options(raw, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
    // Sockets are non-blocking: the system may take a part of a write, and the rest may come from
    // another address. Idle connections free their buffers.
    SSL_CTX_set_mode(raw, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                              SSL_MODE_RELEASE_BUFFERS);
    SSL_CTX_set_read_ahead(raw, 1);
    return context;
}

std::string tls_reason() {
    const auto code = ERR_peek_error();
    if (ERR_SYSTEM_ERROR(code)) return std::generic_category().message(ERR_GET_REASON(code));
    const auto* text = ERR_reason_error_string(code);
    return text ? text : "unknown error";
}

}  // namespace base
