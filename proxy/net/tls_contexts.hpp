#pragma once

#include <openssl/types.h>

#include <memory>
#include <vector>

#include "proxy/config/config.hpp"
#include "proxy/net/tls_trust.hpp"

namespace proxy {

/// The TLS contexts of a configuration beside OriginConfig::trust, built once from its files.
/// Immutable; any thread.
struct TlsContexts {
    std::shared_ptr<SSL_CTX> server;           // null without a TLS listener
    std::shared_ptr<const TlsClient> forward;  // for targets outside `origins`
};

/// Reads the files that `config` names into `config.tls_contexts` and into the `trust` of its
/// origins, which live as long as the configuration. TLS 1.2 at least; ALPN `http/1.1`,
/// and `h2` for clients unless `http2.enabled` is off. Returns
/// errors with setting and file, and then leaves the configuration as it is.
std::vector<ConfigError> load_tls(Config& config);

}  // namespace proxy
