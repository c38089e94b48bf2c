#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "proxy/config/config.hpp"

namespace proxy {

/// All pairs of a listener: that of `certificate` and `key`, then the list.
std::vector<CertificateFiles> certificate_pairs(const TlsConfig& tls);

/// The place of a pair in messages: `$.tls` or `$.tls.certificates[1]`. `index`: that in
/// certificate_pairs().
std::string certificate_setting(const TlsConfig& tls, std::size_t index);

}  // namespace proxy
