#pragma once

#include <openssl/types.h>

#include <memory>
#include <string>

#include "proxy/tls/server_context.hpp"
#include "proxy/tls/signing_authority.hpp"

namespace proxy {

/// The TLS side of `forward.intercept`: the CA, and a context for the connections inside, which
/// get their certificates one by one (TlsSession::present()). Immutable; any thread.
struct Interception {
    std::shared_ptr<const SigningAuthority> authority;
    std::shared_ptr<SSL_CTX> context;
};

/// Tickets of the context resume sessions on any worker. The session context that present() sets
/// for each host keeps them to that host. A CA that is no root is sent behind each certificate.
std::shared_ptr<const Interception> make_interception(
    std::shared_ptr<const SigningAuthority> authority, OfferedProtocols protocols);

}  // namespace proxy
