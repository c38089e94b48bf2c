#pragma once

#include <openssl/types.h>

#include <memory>
#include <string>
#include <vector>

#include "proxy/config/config.hpp"
#include "proxy/http/http_date.hpp"
#include "proxy/tls/name_constraints.hpp"
#include "proxy/tls/server_certificate.hpp"

namespace proxy {

/// The operator's CA of `forward.intercept`, as read from its files. Immutable; any thread.
struct SigningAuthority {
    std::shared_ptr<const ServerCertificate> pair;  // with the certificates above it
    /// The facts of `pair`, with the DNS names that the constraints permit as `names`.
    CertificateFacts facts;
    std::vector<DnsConstraints> constraints;  // of it and of those above it
    bool may_sign = false;                    // it is a CA that may sign certificates
    bool is_root = false;                     // it has signed itself, so no client needs to get it
    std::string fingerprint;                  // SHA-256 of the certificate

    X509* certificate() const;
    EVP_PKEY* key() const;
    /// Some name constraint restricts the DNS names.
    bool is_constrained() const;
    /// It may sign for all hosts that `pattern` matches.
    bool covers(std::string_view pattern) const;
};

/// Reads the CA. Returns null after an error, and appends the reasons to `errors`. `setting`: the
/// place of the pair in messages. Reads files, so it may block.
std::shared_ptr<const SigningAuthority> read_signing_authority(const CertificateFiles& files,
                                                               const std::string& setting,
                                                               std::vector<ConfigError>& errors);

/// Why a node cannot intercept with this CA, by setting: it is no CA, it is not valid at `now`, or
/// it may not sign for a host of the list.
std::vector<ConfigError> authority_faults(const SigningAuthority& authority,
                                          const InterceptConfig& config, WallTime now);

/// A CA that expires within this time is worth a warning: clients have to be told of a new one.
inline constexpr std::chrono::days kAuthorityExpiresSoon{30};

/// Warnings about a CA without faults: no name constraints, or its end is near.
std::vector<ConfigError> authority_doubts(const SigningAuthority& authority, WallTime now);

}  // namespace proxy
