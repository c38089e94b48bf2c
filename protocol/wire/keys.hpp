#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/net/crypto.hpp"
#include "summary/key_hash.hpp"

/// Everything that is derived from a cluster key. Labels, computation and vectors: FORMAT.md.
namespace protocol {

inline constexpr std::size_t kMaxNodeIdBytes = 64;
inline constexpr std::size_t kMaxClusterKeys = 2;

/// Names a key without telling it.
using KeyId = std::array<std::byte, 8>;
using LinkKey = std::array<std::byte, 32>;
using HashSecret = std::array<std::byte, summary::KeyHasher::kSecretBytes>;

HashSecret hash_secret(std::string_view cluster_key);

/// What hides the values of request fields in questions to peers (FORMAT.md, Peer requests).
using FieldKey = std::array<std::byte, 32>;
FieldKey field_key(std::string_view cluster_key);

/// Lower-case digits, two for each byte.
std::string hex(ByteView bytes);

/// What one link uses after its hello.
struct LinkSecrets {
    LinkKey from_publisher, from_subscriber;  // tag the frames of each direction
    std::string token;  // 32 hex digits: the subscriber's proof when it asks the publisher by HTTP
};
/// `publisher_proof` commits to everything said in the hello.
LinkSecrets link_secrets(std::string_view cluster_key, const Mac& publisher_proof);

/// The one or two keys of the configuration, in order of preference.
class KeyRing {
public:
    explicit KeyRing(std::vector<std::string> keys);

    const std::vector<KeyId>& ids() const { return ids_; }
    /// Of the key whose secret hashes cache keys: the last one. Precondition: there is a key.
    const KeyId& hash_id() const { return ids_.back(); }
    /// Of a key that find() or first_common() gave.
    const KeyId& id_of(const std::string& key) const {
        return ids_[static_cast<std::size_t>(&key - keys_.data())];
    }
    /// Null when we have no such key.
    const std::string* find(const KeyId& id) const;
    /// The first of `wanted` that we have; null when there is none.
    const std::string* first_common(std::span<const KeyId> wanted) const;

private:
    std::vector<std::string> keys_;
    std::vector<KeyId> ids_;
};

}  // namespace protocol
