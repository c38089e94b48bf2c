#include "proxy/tls/leaf_certificate.hpp"

#include <algorithm>
#include <stdexcept>

#include "proxy/tls/certificate_builder.hpp"

namespace proxy {

LeafTimes leaf_times(const CertificateFacts& authority, std::chrono::sys_seconds now) {
    const std::chrono::sys_seconds from = now - kLeafBackdated;
    return {std::max(from, authority.not_before), std::min(from + kLeafLife, authority.not_after)};
}

LeafPtr mint_leaf(const SigningAuthority& authority, std::shared_ptr<EVP_PKEY> key,
                  const std::string& host, std::chrono::sys_seconds now) {
    auto leaf = std::make_shared<LeafCertificate>();
    leaf->times = leaf_times(authority.facts, now);
    if (!leaf->times.is_valid_at(now))
        throw std::runtime_error(authority.facts.file + " is not valid now");
    CertificateBuilder builder(key.get(), leaf->times.from, leaf->times.to);
    builder.for_host(host);
    builder.for_server();
    leaf->certificate = builder.sign(authority.certificate(), authority.key());
    leaf->key = std::move(key);
    leaf->authority = authority.fingerprint;
    return leaf;
}

LeafPtr LeafCache::find(const std::string& host, const std::string& authority,
                        std::chrono::sys_seconds now) {
    const auto* const found = leaves_.find(host);
    if (!found || (*found)->authority != authority || !(*found)->times.is_valid_at(now))
        return nullptr;
    return leaves_.use(host);
}

void LeafCache::put(const std::string& host, LeafPtr leaf) {
    leaves_.use(host) = std::move(leaf);
    if (leaves_.size() > most_) leaves_.drop_oldest();
}

}  // namespace proxy
