#pragma once

#include <chrono>
#include <span>
#include <string>
#include <vector>

#include "proxy/config/config.hpp"
#include "proxy/net/server_certificate.hpp"

namespace proxy {

/// A certificate that expires within this time is worth a warning.
inline constexpr std::chrono::days kExpiresSoon{14};

/// Certificates that clients refuse now or soon: expired, close to their end, or not yet valid.
/// Also pairs that no client gets. `all`: in the order of certificate_pairs(tls).
std::vector<ConfigError> certificate_doubts(const TlsConfig& tls,
                                            std::span<const CertificateFacts> all,
                                            std::chrono::sys_seconds now);

/// `2026-12-01T10:00:00Z`.
std::string utc_text(std::chrono::sys_seconds time);

}  // namespace proxy
