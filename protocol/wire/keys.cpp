#include "protocol/wire/keys.hpp"

#include <algorithm>
#include <utility>

namespace protocol {
namespace {

// Every label differs in its text before any other ends, so no output serves two purposes.
constexpr std::string_view kKeyIdLabel = "hearsay 3 key id";
constexpr std::string_view kHashSecretLabel = "hearsay 3 key hash secret";
constexpr std::string_view kLinkLabel = "hearsay 3 link";
constexpr std::string_view kFieldLabel = "hearsay 3 field hashes";
constexpr std::string_view kTlsLabel = "hearsay 3 tls";

constexpr std::size_t kTokenBytes = 16;

KeyId key_id(std::string_view cluster_key) {
    KeyId id;
    base::hkdf_sha256(base::bytes_of(cluster_key), {}, base::bytes_of(kKeyIdLabel), id);
    return id;
}

}  // namespace

HashSecret hash_secret(std::string_view cluster_key) {
    HashSecret secret;
    base::hkdf_sha256(base::bytes_of(cluster_key), {}, base::bytes_of(kHashSecretLabel), secret);
    return secret;
}

FieldKey field_key(std::string_view cluster_key) {
    FieldKey key;
    base::hkdf_sha256(base::bytes_of(cluster_key), {}, base::bytes_of(kFieldLabel), key);
    return key;
}

std::vector<base::Psk> tls_keys(const std::vector<std::string>& cluster_keys) {
    std::vector<base::Psk> keys(cluster_keys.size());
    for (std::size_t i = 0; i < keys.size(); ++i) {
        keys[i].identity = base::hex(key_id(cluster_keys[i]));
        base::hkdf_sha256(base::bytes_of(cluster_keys[i]), {}, base::bytes_of(kTlsLabel),
                          keys[i].secret);
    }
    return keys;
}

LinkSecrets link_secrets(std::string_view cluster_key, const base::Mac& publisher_proof) {
    LinkSecrets secrets;
    std::array<std::byte, 2 * sizeof(LinkKey) + kTokenBytes> out;
    base::hkdf_sha256(base::bytes_of(cluster_key), publisher_proof, base::bytes_of(kLinkLabel),
                      out);
    const auto second = out.begin() + sizeof(LinkKey);
    const auto third = second + sizeof(LinkKey);
    std::copy(out.begin(), second, secrets.from_publisher.begin());
    std::copy(second, third, secrets.from_subscriber.begin());
    secrets.token = base::hex({third, out.end()});
    return secrets;
}

KeyRing::KeyRing(std::vector<std::string> keys) : keys_(std::move(keys)) {
    for (const auto& key : keys_) ids_.push_back(key_id(key));
}

const std::string* KeyRing::find(const KeyId& id) const {
    const auto found = std::find(ids_.begin(), ids_.end(), id);
    return found == ids_.end() ? nullptr : &keys_[static_cast<std::size_t>(found - ids_.begin())];
}

const std::string* KeyRing::first_common(std::span<const KeyId> wanted) const {
    for (const auto& id : wanted) {
        if (const auto* key = find(id)) return key;
    }
    return nullptr;
}

}  // namespace protocol
