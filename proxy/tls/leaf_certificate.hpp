#pragma once

#include <openssl/types.h>

#include <chrono>
#include <memory>
#include <string>

#include "base/memory/recent_map.hpp"
#include "proxy/tls/signing_authority.hpp"

namespace proxy {

/// The time of a leaf certificate: some days, from a day before it is made, as clocks of clients
/// may be slow. Never beyond the time of its CA.
struct LeafTimes {
    std::chrono::sys_seconds from{}, to{};

    bool is_valid_at(std::chrono::sys_seconds now) const { return from <= now && now < to; }
    /// In its last third it is to be renewed.
    bool is_old_at(std::chrono::sys_seconds now) const { return now >= to - (to - from) / 3; }
};
/// Certificates begin so long before now, for clients with a slow clock.
inline constexpr std::chrono::days kLeafBackdated{1};
inline constexpr std::chrono::days kLeafLife{7};
LeafTimes leaf_times(const CertificateFacts& authority, std::chrono::sys_seconds now);

/// A certificate for one host that the operator's CA has signed. Immutable; any thread.
struct LeafCertificate {
    std::shared_ptr<X509> certificate;
    std::shared_ptr<EVP_PKEY> key;
    LeafTimes times;
    std::string authority;  // its fingerprint
};
using LeafPtr = std::shared_ptr<const LeafCertificate>;

/// Signs a certificate for `host`, a name in lower case. Costs about 0.5 ms of a processor. Throws
/// std::runtime_error if OpenSSL fails, or if the CA is not valid at `now`.
LeafPtr mint_leaf(const SigningAuthority& authority, std::shared_ptr<EVP_PKEY> key,
                  const std::string& host, std::chrono::sys_seconds now);

/// The certificates of the hosts that were asked for last. One thread at a time.
class LeafCache {
public:
    /// `most`: certificates, of about 3 KB each.
    explicit LeafCache(std::size_t most) : most_(most) {}

    /// The certificate for `host` by the CA of this fingerprint, if it is valid at `now`.
    LeafPtr find(const std::string& host, const std::string& authority,
                 std::chrono::sys_seconds now);
    /// The least recently found one makes room.
    void put(const std::string& host, LeafPtr leaf);
    std::size_t size() const { return leaves_.size(); }

private:
    const std::size_t most_;
    base::RecentMap<std::string, LeafPtr> leaves_;
};

}  // namespace proxy
