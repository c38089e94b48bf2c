#include "summary/sizing/key_hash.hpp"

#include <xxhash.h>

#include <algorithm>

namespace summary {

static_assert(KeyHasher::kSecretBytes >= XXH3_SECRET_SIZE_MIN);

KeyHasher::KeyHasher(std::span<const std::byte, kSecretBytes> secret) {
    std::copy(secret.begin(), secret.end(), secret_.begin());
}

KeyHash KeyHasher::operator()(std::string_view key) const {
    const auto hash =
        XXH3_128bits_withSecret(key.data(), key.size(), secret_.data(), secret_.size());
    return {hash.low64, hash.high64};
}

}  // namespace summary
