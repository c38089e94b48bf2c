#pragma once

#include <openssl/types.h>

#include <memory>
#include <vector>

#include "proxy/config/config.hpp"
#include "proxy/net/tls_trust.hpp"

namespace proxy {

/// What a configuration needs of TLS, read from its files once. Immutable; any thread.
struct TlsContexts {
    std::shared_ptr<SSL_CTX> server;                        // null: no listener
    std::vector<std::shared_ptr<const TlsClient>> origins;  // index as in Config; null: http
    std::shared_ptr<const TlsClient> forward;               // targets that no entry matches
};

/// Reads what `config` names into `config.tls_contexts`, where it lives and is replaced along with
/// the configuration. TLS 1.2 at least, ALPN `http/1.1`. Says which setting and file is at fault:
/// then, nothing is replaced.
std::vector<ConfigError> load_tls(Config& config);

}  // namespace proxy
