#pragma once

#include <openssl/types.h>

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/tls/psk_context.hpp"
#include "proxy/config/config.hpp"
#include "proxy/tls/interception.hpp"
#include "proxy/tls/server_certificate.hpp"
#include "proxy/tls/tls_trust.hpp"

namespace proxy {

/// The TLS contexts of the connections that a node accepts, and of its peers. Immutable; any
/// thread.
struct TlsContexts {
    std::shared_ptr<SSL_CTX> server;  // null without a TLS listener
    /// Those of `server`, in the order of certificate_pairs().
    std::vector<std::shared_ptr<const ServerCertificate>> certificates;
    std::shared_ptr<const Interception> interception;  // of forward.intercept; null without it
    /// For peer requests; null without a cluster or without `cluster.encrypt`.
    std::shared_ptr<const base::PskContext> peers;
};

/// The verification of the servers that a node connects to. Immutable; any thread.
struct UpstreamTrust {
    std::vector<std::shared_ptr<const TlsClient>> origins;  // by entry; null without TLS
    std::shared_ptr<const TlsClient> forward;               // for targets outside `origins`

    /// `entry`: of the `origins` of this configuration; null: a target outside of them.
    const std::shared_ptr<const TlsClient>& of(const Config& config,
                                               const OriginConfig* entry) const {
        return entry ? origins[static_cast<std::size_t>(entry - config.origins.data())] : forward;
    }
};

/// The outcome of load_tls(): both, or errors with setting and file.
struct TlsRead {
    std::shared_ptr<const TlsContexts> contexts;
    std::shared_ptr<const UpstreamTrust> trust;
    std::vector<ConfigError> errors;
};
/// Reads the files of TLS that `config` names. TLS 1.2 at least; ALPN `http/1.1`, and `h2` for
/// clients unless `http2.enabled` is off.
TlsRead load_tls(const Config& config);

/// The outcome of read_changed_certificates().
struct CertificatesRead {
    std::shared_ptr<const TlsContexts> value;  // null if no certificate could be renewed
    std::vector<std::size_t> renewed;          // indices in TlsContexts::certificates
    bool renewed_authority = false;            // TlsContexts::interception has another CA
    std::vector<ConfigError> news;             // errors of the others that have changed
    std::map<std::string, PairStamp> failed;   // their state, by certificate file
};

/// Reads the pairs of `was`, and its CA, again whose files have changed. A pair
/// that cannot be read leaves the former certificate in place. `failed_before`: states of files
/// that are not worth another read. Reads files, so it may block.
CertificatesRead read_changed_certificates(const Config& config, const TlsContexts& was,
                                           const std::map<std::string, PairStamp>& failed_before);

}  // namespace proxy
