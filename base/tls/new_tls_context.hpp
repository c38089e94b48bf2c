#pragma once

#include <openssl/types.h>

#include <memory>
#include <string>
#include <string_view>

namespace base {

/// HTTP/1.1 alone, in the form of ALPN (RFC 7301 §3.1).
inline constexpr std::string_view kAlpnHttp1 = "\x08http/1.1";

enum class TlsSide : bool { client, server };

/// A context with the properties that all TLS connections of a node share: TLS 1.2 at least, no
/// renegotiation, no compression, and buffers that idle connections free.
std::shared_ptr<SSL_CTX> new_tls_context(TlsSide side);

/// The text of OpenSSL's first error on this thread, which is the cause.
std::string tls_reason();

}  // namespace base
