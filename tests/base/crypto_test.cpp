#include "base/tls/crypto.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>

#include "tests/base/bytes.hpp"

namespace base::test {
namespace crypto_test {

std::string hmac(std::string_view key, std::string_view text) {
    return hex(HmacSha256(bytes_of(key))({bytes_of(text)}));
}

std::string hkdf(ByteView secret, ByteView salt, ByteView info, std::size_t size) {
    Bytes out(size);
    hkdf_sha256(secret, salt, info, out);
    return hex(out);
}

TEST(Crypto, HmacGivesTheKnownAnswers) {  // RFC 4231 §4.2, §4.3, §4.7
    EXPECT_EQ(hmac(std::string(20, '\x0b'), "Hi There"),
              "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
    EXPECT_EQ(hmac("Jefe", "what do ya want for nothing?"),
              "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
    EXPECT_EQ(
        hmac(std::string(131, '\xaa'), "Test Using Larger Than Block-Size Key - Hash Key First"),
        "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
}

TEST(Crypto, HmacTakesItsMessageInAnyParts) {
    HmacSha256 mac(bytes_of("Jefe"));
    const auto whole = mac({bytes_of("what do ya want for nothing?")});
    EXPECT_EQ(mac({bytes_of("what do ya "), {}, bytes_of("want for nothing?")}), whole);
    EXPECT_NE(mac({bytes_of("what do ya want for nothing")}), whole);
}

TEST(Crypto, HmacBeginsAnewWithTheSameKeyForEachMessage) {
    HmacSha256 mac(bytes_of("Jefe"));
    const auto first = mac({bytes_of("one")});
    mac({bytes_of("two")});
    EXPECT_EQ(mac({bytes_of("one")}), first);
    auto moved = std::move(mac);
    EXPECT_EQ(moved({bytes_of("one")}), first);
}

TEST(Crypto, SipHashGivesTheKnownAnswers) {  // the authors' vectors_sip128
    const auto key = counting<SipKey>(0);
    EXPECT_EQ(hex(sip_hash(key, {})), "a3817f04ba25a8e66df67214c7550293");
    EXPECT_EQ(hex(sip_hash(key, {bytes_of(std::string_view("\0", 1))})),
              "da87c1d86b99af44347659119b22fc45");
}

TEST(Crypto, SipHashTakesItsMessageInAnyParts) {
    const auto key = counting<SipKey>(0);
    const auto whole = sip_hash(key, {bytes_of("longer than one word")});
    EXPECT_EQ(sip_hash(key, {bytes_of("longer"), {}, bytes_of(" than one word")}), whole);
    EXPECT_NE(sip_hash(key, {bytes_of("longer than one wor")}), whole);
    EXPECT_NE(sip_hash(counting<SipKey>(1), {bytes_of("longer than one word")}), whole);
}

TEST(Crypto, HkdfGivesTheKnownAnswers) {  // RFC 5869 appendix A.1 to A.3
    const Bytes secret(22, std::byte{0x0b});
    EXPECT_EQ(
        hkdf(secret, unhex("000102030405060708090a0b0c"), unhex("f0f1f2f3f4f5f6f7f8f9"), 42),
        "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865");
    const auto count_from = [](unsigned first) {
        return counting<std::array<std::byte, 80>>(first);
    };
    EXPECT_EQ(hkdf(count_from(0), count_from(0x60), count_from(0xb0), 82),
              "b11e398dc80327a1c8e7f78c596a49344f012eda2d4efad8a050cc4c19afa97c"
              "59045a99cac7827271cb41c65e590e09da3275600c2f09b8367793a9aca3db71"
              "cc30c58179ec3e87c14c01d5c1f3434f1d87");
    EXPECT_EQ(
        hkdf(secret, {}, {}, 42),
        "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d9d201395faa4b61a96c8");
}

TEST(Crypto, RandomBytesDifferEachTime) {
    std::array<std::byte, 16> first{}, second{};
    random_bytes(first);
    random_bytes(second);
    EXPECT_NE(first, decltype(first){});
    EXPECT_NE(first, second);
}

TEST(Crypto, EqualityWantsTheSameLengthAndEveryByte) {
    EXPECT_TRUE(equal_in_constant_time(bytes_of("abc"), bytes_of("abc")));
    EXPECT_TRUE(equal_in_constant_time({}, {}));
    EXPECT_FALSE(equal_in_constant_time(bytes_of("abc"), bytes_of("abd")));
    EXPECT_FALSE(equal_in_constant_time(bytes_of("abc"), bytes_of("bbc")));
    EXPECT_FALSE(equal_in_constant_time(bytes_of("abc"), bytes_of("ab")));
    EXPECT_FALSE(equal_in_constant_time(bytes_of("abc"), {}));
}

}  // namespace crypto_test
}  // namespace base::test
