#include "proxy/http/credentials.hpp"

#include <gtest/gtest.h>

#include "proxy/http/rule.hpp"
#include "tests/proxy/http/head.hpp"

namespace proxy {
namespace credentials_test {

using test::Head;

TEST(Credentials, AreAuthorizationAndTheFieldsThatServicesTakeInItsPlace) {
    for (const auto* line : {"Authorization: Basic eDp5", "X-Api-Key: k", "x-api-key: k",
                             "PRIVATE-TOKEN: k", "Job-Token: k", "X-JFrog-Art-Api: k",
                             "X-NuGet-ApiKey: k", "X-Auth-Token: k", "x_api_key: k"})
        EXPECT_TRUE(has_credential(Head(line), nullptr)) << line;
    for (const auto* line :
         {"Cookie: a=b", "X-Api-Version: 3", "X-Csrf-Token: k", "Accept: a/b", "X-Request-Id: 1"})
        EXPECT_FALSE(has_credential(Head(line), nullptr)) << line;
}

TEST(Credentials, OfARuleAreFoundByAWordInTheirNames) {
    for (const auto* name :
         {"Authorization", "Cookie", "X-Api-Key", "private-token", "X-JFrog-Art-Api",
          "X-NuGet-ApiKey", "DD-API-KEY", "X-Shared-Secret", "X-Session-Id", "X-Signature"})
        EXPECT_TRUE(may_be_credential(name)) << name;
    for (const auto* name : {"Accept", "User-Agent", "X-Request-Id", "Referer", ""})
        EXPECT_FALSE(may_be_credential(name)) << name;
}

TEST(Credentials, OfAKeyDoNotCount) {
    StoringRule rule;
    rule.key_fields = {"x-api-key"};
    EXPECT_FALSE(has_credential(Head("X-API-Key: k"), &rule));
    EXPECT_TRUE(has_credential(Head("X-Api-Key: k\nPrivate-Token: k"), &rule));
}

TEST(Credentials, ThatVaryNamesDoNotCount) {
    EXPECT_FALSE(has_credential(Head("X-Api-Key: k"), nullptr, "accept,x-api-key"));
    EXPECT_TRUE(has_credential(Head("X-Api-Key: k"), nullptr, "accept"));
    EXPECT_TRUE(has_credential(Head("Authorization: k"), nullptr, "authorization"))
        << "RFC 9111 §3.5 knows no such exception";
}

TEST(Credentials, KeepTheirBits) {  // stored variants have them
    EXPECT_EQ(credential_field("authorization"), 1u);
    EXPECT_EQ(credential_field("x-api-key"), 2u);
    EXPECT_EQ(credential_field("dd-api-key"), 1u << 19);
    EXPECT_EQ(credential_fields(Head("X-Api-Key: k\nAuthorization: Bearer t\nAccept: a/b")), 3u);
}

}  // namespace credentials_test
}  // namespace proxy
