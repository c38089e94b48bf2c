#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string_view>

#include "protocol/wire/invalidation.hpp"
#include "summary/sizing/key_hash.hpp"

namespace proxy::test {

inline const summary::KeyHasher& hasher() {
    static const summary::KeyHasher hasher = [] {
        std::array<std::byte, summary::KeyHasher::kSecretBytes> secret{};
        for (std::size_t i = 0; i < secret.size(); ++i)
            secret[i] = static_cast<std::byte>(i * 37 + 11);
        return summary::KeyHasher(secret);
    }();
    return hasher;
}

/// The hash of a key under a secret of the tests.
inline summary::KeyHash hash(std::string_view uri) {
    return hasher()(uri);
}

inline protocol::Invalidation of_tag(summary::KeyHash tag) {
    return {{}, {tag}};
}
inline protocol::Invalidation of_everything() {
    return {{}, {}, true};
}

}  // namespace proxy::test
