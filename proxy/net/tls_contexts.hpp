#pragma once

#include <openssl/types.h>

#include <memory>
#include <vector>

#include "proxy/config/config.hpp"
#include "proxy/net/tls_trust.hpp"

namespace proxy {

/// What a configuration needs of TLS beside OriginConfig::trust, read from its files once.
/// Immutable; any thread.
struct TlsContexts {
    std::shared_ptr<SSL_CTX> server;           // null: no listener
    std::shared_ptr<const TlsClient> forward;  // targets that no entry matches
};

/// Reads the files that `config` names into `config.tls_contexts` and into the `trust` of its
/// origins, which live as long as the configuration. TLS 1.2 at least, ALPN `http/1.1`. Returns the
/// settings and files at fault; with any of them, nothing is replaced.
std::vector<ConfigError> load_tls(Config& config);

}  // namespace proxy
