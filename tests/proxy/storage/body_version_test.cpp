#include "proxy/storage/body_version.hpp"

#include <gtest/gtest.h>

#include "tests/proxy/hash.hpp"

namespace proxy {
namespace body_version_test {

StoredMetadata stored(const std::string& lines = {}) {
    StoredMetadata response;
    response.status = 200;
    response.head_fields = "ETag: \"1\"\r\n" + lines;
    return response;
}
std::string form(const StoredMetadata& response, std::uint64_t length = 100) {
    return version_of(response, length, test::hasher()).form;
}

TEST(BodyVersion, ConsistsOfTheStrongTagAndAllElseThatTheBytesMayDependOn) {
    const auto version = version_of(stored(), 100, test::hasher());
    EXPECT_EQ(version.etag, "\"1\"");
    EXPECT_EQ(version.form.size(), kFormDigits);
    EXPECT_EQ(version.form.find_first_not_of("0123456789abcdef"), std::string::npos);
    EXPECT_EQ(version, version_of(stored("X-Other: 1\r\n"), 100, test::hasher()));
    EXPECT_NE(form(stored()), form(stored(), 101));
    EXPECT_NE(form(stored()), form(stored("Content-Encoding: gzip\r\n")));
    EXPECT_NE(form(stored("Content-Language: de\r\n")), form(stored("Content-Encoding: de\r\n")));
    EXPECT_EQ(form(stored("Content-Encoding: gzip\r\n")),
              form(stored("content-encoding: gzip\r\n")));
}

TEST(BodyVersion, IsOneForAllThatNegotiateAndAnotherForEachClient) {
    auto one = stored(), other = stored();
    one.vary_names = other.vary_names = "accept-encoding,accept-language";
    one.variant = "gzip\n\x01\n";
    other.variant = "br\n\x01\n";
    EXPECT_EQ(form(one), form(other));
    EXPECT_EQ(form(one), form(stored()));
    one.vary_names = other.vary_names = "accept-encoding,cookie";
    EXPECT_NE(form(one), form(other));
    EXPECT_NE(form(one), form(stored()));
}

TEST(BodyVersion, IsAnotherForEachLanguageThatItDoesNotName) {
    auto one = stored(), other = stored();
    one.vary_names = other.vary_names = "accept-encoding,accept-language";
    one.variant = "gzip\nde\n";
    other.variant = "br\nde\n";
    EXPECT_EQ(form(one), form(other));
    other.variant = "gzip\nfr\n";
    EXPECT_NE(form(one), form(other));
    EXPECT_FALSE(version_of(one, 100, test::hasher()).by_client);
}

TEST(BodyVersion, IsAnotherForEachServerOfAGroup) {
    auto one = stored(), other = stored();
    one.server = 7;
    other.server = 8;
    EXPECT_EQ(version_of(one, 100, test::hasher()).server, 7u);
    EXPECT_NE(form(one), form(other));
    EXPECT_NE(form(one), form(stored()));
    EXPECT_NE(form(one), form(stored(), 1007));
}

/// The hashed text, as protocol/FORMAT.md describes it.
TEST(BodyVersion, IsTheHashOfTheTextThatThePageDescribes) {
    auto response = stored("Content-Encoding: gzip\r\n");
    response.vary_names = "accept-encoding,cookie";
    response.variant = "gzip\n\x01\n";
    const auto hash =
        test::hasher()("100\nContent-Encodinggzip\naccept-encoding,cookie\ngzip\n\x01\n").low;
    char digits[kFormDigits + 1];
    std::snprintf(digits, sizeof digits, "%016llx", static_cast<unsigned long long>(hash));
    EXPECT_EQ(form(response), digits);
}

}  // namespace body_version_test
}  // namespace proxy
