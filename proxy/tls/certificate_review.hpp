#pragma once

#include <chrono>
#include <span>
#include <vector>

#include "proxy/config/config.hpp"
#include "proxy/http/http_date.hpp"
#include "proxy/tls/server_certificate.hpp"

namespace proxy {

struct TlsContexts;

/// A certificate that expires within this time is worth a warning.
inline constexpr std::chrono::days kExpiresSoon{14};

/// Certificates that clients refuse now or soon: expired, close to their end, or not yet valid.
/// Also pairs that no client gets. `all`: in the order of certificate_pairs(tls).
std::vector<ConfigError> certificate_doubts(const TlsConfig& tls,
                                            std::span<const CertificateFacts> all, WallTime now);

/// The same for the certificates of `config`, which are in `contexts`, at the present time.
std::vector<ConfigError> certificate_doubts(const Config& config, const TlsContexts& contexts);

}  // namespace proxy
