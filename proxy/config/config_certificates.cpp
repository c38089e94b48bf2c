#include "proxy/config/config_certificates.hpp"

namespace proxy {

std::vector<CertificateFiles> certificate_pairs(const TlsConfig& tls) {
    std::vector<CertificateFiles> pairs;
    if (!tls.certificate.empty()) pairs.push_back({tls.certificate, tls.key});
    pairs.insert(pairs.end(), tls.certificates.begin(), tls.certificates.end());
    return pairs;
}

std::string certificate_setting(const TlsConfig& tls, std::size_t index) {
    const std::size_t before = tls.certificate.empty() ? 0 : 1;
    return index < before ? "$.tls" : "$.tls.certificates[" + std::to_string(index - before) + ']';
}

}  // namespace proxy
