#include "proxy/tls/signing_authority.hpp"

#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <array>
#include <utility>

namespace proxy {
namespace {

constexpr auto kCertificateSetting = "$.forward.intercept.ca.certificate";

std::string fingerprint_of(X509* certificate) {
    std::array<unsigned char, EVP_MAX_MD_SIZE> hash;
    unsigned size = 0;
    if (X509_digest(certificate, EVP_sha256(), hash.data(), &size) != 1) size = 0;
    return {reinterpret_cast<const char*>(hash.data()), size};
}

/// A CA by its basic constraints, and by its key usage if it has one.
bool may_sign_certificates(X509* certificate) {
    return X509_check_ca(certificate) == 1 &&
           (X509_get_key_usage(certificate) & KU_KEY_CERT_SIGN) != 0;
}

}  // namespace

X509* SigningAuthority::certificate() const {
    return SSL_CTX_get0_certificate(pair->holder.get());
}

EVP_PKEY* SigningAuthority::key() const {
    return SSL_CTX_get0_privatekey(pair->holder.get());
}

bool SigningAuthority::is_constrained() const {
    return std::ranges::any_of(
        constraints, [](const DnsConstraints& each) { return each.permitted.has_value(); });
}

bool SigningAuthority::covers(std::string_view pattern) const {
    return std::ranges::all_of(
        constraints, [&](const DnsConstraints& each) { return proxy::covers(each, pattern); });
}

std::shared_ptr<const SigningAuthority> read_signing_authority(const CertificateFiles& files,
                                                               const std::string& setting,
                                                               std::vector<ConfigError>& errors) {
    auto read = std::make_shared<SigningAuthority>();
    read->pair = read_server_certificate(files, setting, errors);
    if (!read->pair) return nullptr;
    auto* const certificate = read->certificate();
    read->facts = read->pair->facts;
    read->may_sign = may_sign_certificates(certificate);
    read->is_root = (X509_get_extension_flags(certificate) & EXFLAG_SS) != 0;
    read->fingerprint = fingerprint_of(certificate);
    auto own = dns_constraints(certificate);
    read->facts.names = own.permitted.value_or(std::vector<std::string>());
    read->constraints.push_back(std::move(own));
    STACK_OF(X509)* above = nullptr;
    SSL_CTX_get0_chain_certs(read->pair->holder.get(), &above);
    for (int i = 0; i < sk_X509_num(above); ++i)
        read->constraints.push_back(dns_constraints(sk_X509_value(above, i)));
    return read;
}

std::vector<ConfigError> authority_faults(const SigningAuthority& authority,
                                          const InterceptConfig& config, WallTime now) {
    std::vector<ConfigError> found;
    const auto& facts = authority.facts;
    if (!authority.may_sign)
        found.push_back(
            {kCertificateSetting, facts.file + " is no CA: `hearsay ca create` makes one"});
    if (facts.not_after <= now)
        found.push_back({kCertificateSetting, facts.file + " expired on " +
                                                  rfc3339(facts.not_after) +
                                                  ", so no client would trust it"});
    if (now < facts.not_before)
        found.push_back({kCertificateSetting,
                         facts.file + " is not valid before " + rfc3339(facts.not_before)});
    for (std::size_t i = 0; i < config.hosts.size(); ++i)
        if (const auto& pattern = config.hosts[i].text; !authority.covers(pattern))
            found.push_back({"$.forward.intercept.hosts[" + std::to_string(i) + ']',
                             "\"" + pattern + "\" is beyond the name constraints of " + facts.file +
                                 ", so clients would refuse its certificates"});
    return found;
}

std::vector<ConfigError> authority_doubts(const SigningAuthority& authority, WallTime now) {
    std::vector<ConfigError> found;
    const auto& facts = authority.facts;
    if (!authority.is_constrained())
        found.push_back({kCertificateSetting,
                         facts.file + " has no name constraints: whoever gets its key can pose as "
                                      "any site to your clients (`hearsay ca create` sets them)"});
    if (facts.not_after > now && facts.not_after - now < kAuthorityExpiresSoon)
        found.push_back({kCertificateSetting, facts.file + " expires on " +
                                                  rfc3339(facts.not_after) +
                                                  ": give clients a new CA before"});
    return found;
}

}  // namespace proxy
