#include "protocol/wire/keys.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "tests/protocol/bytes.hpp"

namespace protocol::test {
namespace keys_test {

// The vectors of FORMAT.md stand in format_test.cpp.

const std::string kFirst = "0123456789abcdef0123456789abcdef";
const std::string kSecond = "fedcba9876543210fedcba9876543210";

TEST(Keys, EveryDerivedSecretIsForOnePurposeOnly) {
    const auto secrets = link_secrets(kFirst, filled<base::Mac>(1));
    const std::set<std::string> all = {
        base::hex(key_id(kFirst)), base::hex(base::ByteView(hash_secret(kFirst)).first(32)),
        base::hex(secrets.from_publisher), base::hex(secrets.from_subscriber), secrets.token};
    EXPECT_EQ(all.size(), 5U);
}

TEST(Keys, AnotherClusterKeyGivesOtherSecretsThroughout) {
    const auto proof = filled<base::Mac>(1);
    EXPECT_NE(key_id(kFirst), key_id(kSecond));
    EXPECT_NE(hash_secret(kFirst), hash_secret(kSecond));
    const auto first = link_secrets(kFirst, proof);
    const auto second = link_secrets(kSecond, proof);
    EXPECT_NE(first.from_publisher, second.from_publisher);
    EXPECT_NE(first.from_subscriber, second.from_subscriber);
    EXPECT_NE(first.token, second.token);
}

TEST(Keys, EachLinkHasSecretsOfItsOwn) {
    const auto one = link_secrets(kFirst, filled<base::Mac>(1));
    const auto other = link_secrets(kFirst, filled<base::Mac>(2));
    EXPECT_NE(one.from_publisher, other.from_publisher);
    EXPECT_NE(one.from_subscriber, other.from_subscriber);
    EXPECT_NE(one.token, other.token);
}

TEST(Keys, ATokenIs32HexDigits) {
    const auto token = link_secrets(kFirst, filled<base::Mac>(1)).token;
    EXPECT_EQ(token.size(), 32U);
    EXPECT_EQ(token.find_first_not_of("0123456789abcdef"), std::string::npos);
}

TEST(KeyRing, NamesItsKeysInOrderAndHashesUnderTheLast) {
    const KeyRing ring({kFirst, kSecond});
    EXPECT_EQ(ring.ids(), (std::vector<KeyId>{key_id(kFirst), key_id(kSecond)}));
    EXPECT_EQ(ring.hash_id(), key_id(kSecond));
}

TEST(KeyRing, FindsOnlyTheKeysItHas) {
    const KeyRing ring({kFirst});
    ASSERT_NE(ring.find(key_id(kFirst)), nullptr);
    EXPECT_EQ(*ring.find(key_id(kFirst)), kFirst);
    EXPECT_EQ(ring.find(key_id(kSecond)), nullptr);
    EXPECT_EQ(KeyRing({}).find(key_id(kFirst)), nullptr);
}

TEST(KeyRing, ThePreferenceOfTheOneWhoAsksDecides) {
    const KeyRing ring({kFirst, kSecond});
    const std::vector<KeyId> wanted = {key_id("unknown"), key_id(kSecond), key_id(kFirst)};
    ASSERT_NE(ring.first_common(wanted), nullptr);
    EXPECT_EQ(*ring.first_common(wanted), kSecond);
    EXPECT_EQ(ring.first_common(std::vector<KeyId>{key_id("unknown")}), nullptr);
    EXPECT_EQ(ring.first_common({}), nullptr);
}

}  // namespace keys_test
}  // namespace protocol::test
