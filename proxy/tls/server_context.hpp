#pragma once

#include <openssl/types.h>

#include <memory>
#include <span>

#include "proxy/tls/server_certificate.hpp"

namespace proxy {

enum class OfferedProtocols : bool { http1, http2_too };

/// A context for connections of clients, without a certificate: ALPN, and tickets that resume
/// sessions on any worker.
std::shared_ptr<SSL_CTX> new_server_context(OfferedProtocols protocols);

/// A context for the connections of clients. It chooses the certificate by the name that a client
/// asks for (CertificateChoice). A ticket resumes a session on any worker, but under no name that
/// leads to other certificates (RFC 6066 §3). `all`: at least one. Throws std::runtime_error if
/// OpenSSL refuses a certificate.
std::shared_ptr<SSL_CTX> make_server_context(
    std::span<const std::shared_ptr<const ServerCertificate>> all, OfferedProtocols protocols);

}  // namespace proxy
