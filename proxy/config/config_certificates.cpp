#include "proxy/config/config_certificates.hpp"

#include <map>
#include <utility>

namespace proxy {
namespace {

void read_path(ConfigSection& in, std::string_view key, std::string& out) {
    in.require(key);
    in.read(key, out);
    if (in.has(key) && out.empty() && !in.failed(key))
        in.fail(key, "must be the path of a PEM file");
}

}  // namespace

void read_pairs(ConfigContext& context, ConfigSection& tls, TlsConfig& out) {
    std::map<std::string, std::string> places;  // of certificates
    if (!out.certificate.empty()) places.emplace(out.certificate, "$.tls");
    const auto elements = tls.elements("certificates");
    for (const auto& [value, path] : elements) {
        ConfigSection in(context, *value, path);
        CertificateFiles pair;
        read_path(in, "certificate", pair.certificate);
        read_path(in, "key", pair.key);
        in.done();
        if (!pair.certificate.empty()) {
            const auto [other, is_new] = places.emplace(pair.certificate, path);
            if (!is_new) in.fail("certificate", "is that of " + other->second + " again");
        }
        out.certificates.push_back(std::move(pair));
    }
    if (elements.size() > kMaxCertificates)
        tls.fail("certificates", "must be at most " + std::to_string(kMaxCertificates));
}

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
