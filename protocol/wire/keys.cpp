#include "protocol/wire/keys.hpp"

#include <algorithm>
#include <utility>

namespace protocol {
namespace {

// Every label differs in its text before any other ends, so no output serves two purposes.
constexpr std::string_view kKeyIdLabel = "hearsay 3 key id";
constexpr std::string_view kHashSecretLabel = "hearsay 3 key hash secret";
constexpr std::string_view kLinkLabel = "hearsay 3 link";
constexpr std::string_view kFieldLabel = "hearsay 3 question fields";
constexpr std::string_view kTlsLabel = "hearsay 3 tls";

constexpr std::size_t kTokenBytes = 16;

KeyId key_id(std::string_view cluster_key) {
    KeyId id;
    hkdf_sha256(bytes_of(cluster_key), {}, bytes_of(kKeyIdLabel), id);
    return id;
}

}  // namespace

std::string hex(ByteView bytes) {
    constexpr char kDigits[] = "0123456789abcdef";
    std::string text(bytes.size() * 2, '0');
    auto digit = text.begin();
    for (const auto byte : bytes) {
        const auto value = std::to_integer<unsigned>(byte);
        *digit++ = kDigits[value >> 4];
        *digit++ = kDigits[value & 15];
    }
    return text;
}

HashSecret hash_secret(std::string_view cluster_key) {
    HashSecret secret;
    hkdf_sha256(bytes_of(cluster_key), {}, bytes_of(kHashSecretLabel), secret);
    return secret;
}

FieldKey field_key(std::string_view cluster_key) {
    FieldKey key;
    hkdf_sha256(bytes_of(cluster_key), {}, bytes_of(kFieldLabel), key);
    return key;
}

std::vector<Psk> tls_keys(const std::vector<std::string>& cluster_keys) {
    std::vector<Psk> keys(cluster_keys.size());
    for (std::size_t i = 0; i < keys.size(); ++i) {
        keys[i].identity = hex(key_id(cluster_keys[i]));
        hkdf_sha256(bytes_of(cluster_keys[i]), {}, bytes_of(kTlsLabel), keys[i].secret);
    }
    return keys;
}

LinkSecrets link_secrets(std::string_view cluster_key, const Mac& publisher_proof) {
    LinkSecrets secrets;
    std::array<std::byte, 2 * sizeof(LinkKey) + kTokenBytes> out;
    hkdf_sha256(bytes_of(cluster_key), publisher_proof, bytes_of(kLinkLabel), out);
    const auto second = out.begin() + sizeof(LinkKey);
    const auto third = second + sizeof(LinkKey);
    std::copy(out.begin(), second, secrets.from_publisher.begin());
    std::copy(second, third, secrets.from_subscriber.begin());
    secrets.token = hex({third, out.end()});
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
