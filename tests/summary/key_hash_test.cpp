#include "summary/sizing/key_hash.hpp"

#include <gtest/gtest.h>
#include <xxhash.h>

#include <array>
#include <string>

namespace summary {
namespace key_hash_test {

std::array<std::byte, KeyHasher::kSecretBytes> secret(unsigned step) {
    std::array<std::byte, KeyHasher::kSecretBytes> bytes;
    for (unsigned i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i * step + 1);
    return bytes;
}

TEST(KeyHasher, IsXxh3OverTheSecretAndTheKey) {
    const auto bytes = secret(7);
    const KeyHasher hasher(bytes);
    // All of XXH3's paths: empty, up to 16, 128 and 240 bytes, and longer.
    for (const std::size_t size : {0, 3, 8, 16, 64, 128, 200, 240, 241, 5000}) {
        const std::string text(size, 'u');
        const auto expected =
            XXH3_128bits_withSecret(text.data(), text.size(), bytes.data(), bytes.size());
        EXPECT_EQ(hasher(text), (KeyHash{expected.low64, expected.high64})) << size;
    }
}

TEST(KeyHasher, AnotherSecretGivesOtherHashes) {
    const KeyHasher one(secret(7));
    const KeyHasher other(secret(11));
    EXPECT_EQ(one("http://a/"), KeyHasher(secret(7))("http://a/"));
    EXPECT_NE(one("http://a/"), other("http://a/"));
    EXPECT_NE(one("http://a/"), one("http://b/"));
}

TEST(KeyHasher, KeepsItsOwnCopyOfTheSecret) {
    auto bytes = secret(7);
    const KeyHasher hasher(bytes);
    const auto before = hasher("http://a/");
    bytes.fill(std::byte{0});
    EXPECT_EQ(hasher("http://a/"), before);
}

}  // namespace key_hash_test
}  // namespace summary
