#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/tls/crypto.hpp"
#include "base/tls/psk_context.hpp"
#include "summary/sizing/key_hash.hpp"

/// Values derived from a cluster key. FORMAT.md has labels, computation and vectors. All functions
/// are pure and the objects constant, so any thread may use them.
namespace protocol {

inline constexpr std::size_t kMaxNodeIdBytes = 64;
inline constexpr std::size_t kMaxClusterKeys = 2;

/// Identifies a cluster key and keeps it secret.
using KeyId = std::array<std::byte, 8>;
using LinkKey = std::array<std::byte, 32>;
using HashSecret = std::array<std::byte, summary::KeyHasher::kSecretBytes>;

HashSecret hash_secret(std::string_view cluster_key);

/// Hides the values of request fields in peer requests (FORMAT.md, Peer requests).
using FieldKey = base::SipKey;
FieldKey field_key(std::string_view cluster_key);

/// The keys of the TLS connections between nodes, in the order of the cluster keys (FORMAT.md,
/// Encryption). The identity is the cluster key's id in hex.
std::vector<base::Psk> tls_keys(const std::vector<std::string>& cluster_keys);

/// Secrets of one link after its hello.
struct LinkSecrets {
    LinkKey from_publisher, from_subscriber;  // for the tags of each direction
    std::string
        token;  // 32 hex digits: the subscriber's proof in its peer requests to the publisher
};
/// `publisher_proof` covers the whole hello.
LinkSecrets link_secrets(std::string_view cluster_key, const base::Mac& publisher_proof);

/// The one or two keys of the configuration, in order of preference.
class KeyRing {
public:
    explicit KeyRing(std::vector<std::string> keys);

    const std::vector<KeyId>& ids() const { return ids_; }
    /// The last key, whose secret hashes cache keys. Precondition: the ring has a key.
    const KeyId& hash_id() const { return ids_.back(); }
    /// The id of a key returned by find() or first_common().
    const KeyId& id_of(const std::string& key) const {
        return ids_[static_cast<std::size_t>(&key - keys_.data())];
    }
    /// Null for an unknown key.
    const std::string* find(const KeyId& id) const;
    /// The first of `wanted` that this node has, or null.
    const std::string* first_common(std::span<const KeyId> wanted) const;

private:
    std::vector<std::string> keys_;
    std::vector<KeyId> ids_;
};

}  // namespace protocol
