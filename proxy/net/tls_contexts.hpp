#pragma once

#include <openssl/types.h>

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "protocol/net/psk_context.hpp"
#include "proxy/config/config.hpp"
#include "proxy/net/interception.hpp"
#include "proxy/net/server_certificate.hpp"
#include "proxy/net/tls_trust.hpp"

namespace proxy {

/// The TLS contexts of a configuration beside OriginConfig::trust, built once from its files.
/// Immutable; any thread.
struct TlsContexts {
    std::shared_ptr<SSL_CTX> server;  // null without a TLS listener
    /// Those of `server`, in the order of certificate_pairs().
    std::vector<std::shared_ptr<const ServerCertificate>> certificates;
    std::shared_ptr<const TlsClient> forward;          // for targets outside `origins`
    std::shared_ptr<const Interception> interception;  // of forward.intercept; null without it
    /// For peer requests; null without a cluster or without `cluster.encrypt`.
    std::shared_ptr<const protocol::PskContext> peers;
};

/// Reads the files that `config` names into `config.tls_contexts` and into the `trust` of its
/// origins, which live as long as the configuration. TLS 1.2 at least; ALPN `http/1.1`,
/// and `h2` for clients unless `http2.enabled` is off. Returns
/// errors with setting and file, and then leaves the configuration as it is.
std::vector<ConfigError> load_tls(Config& config);

/// The outcome of read_changed_certificates().
struct CertificatesRead {
    std::shared_ptr<const TlsContexts> contexts;  // null if no certificate could be renewed
    std::vector<std::size_t> renewed;             // indices in TlsContexts::certificates
    bool renewed_authority = false;               // TlsContexts::interception has another CA
    std::vector<ConfigError> errors;              // of the others that have changed
    std::map<std::string, PairStamp> failed;      // their state, by certificate file
};

/// Reads the pairs of `config.tls_contexts`, and its CA, again whose files have changed. A pair
/// that cannot be read leaves the former certificate in place. `failed_before`: states of files
/// that are not worth another read. Reads files, so it may block.
CertificatesRead read_changed_certificates(const Config& config,
                                           const std::map<std::string, PairStamp>& failed_before);

}  // namespace proxy
