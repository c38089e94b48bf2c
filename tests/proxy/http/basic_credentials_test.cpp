#include "proxy/http/basic_credentials.hpp"

#include <gtest/gtest.h>

#include "tests/proxy/http/head.hpp"

namespace proxy {
namespace basic_credentials_test {

using test::Head;
using State = ProxyCredentials::State;

std::string read(const std::string& lines) {
    const auto found = proxy_credentials(Head(lines));
    if (found.state == State::absent) return "absent";
    if (found.state == State::malformed) return "malformed";
    return found.user + " / " + found.password;
}
std::string basic(std::string_view value) {
    return read("Proxy-Authorization: Basic " + std::string(value));
}

TEST(BasicCredentials, AreAPairOfNameAndPassword) {  // RFC 7617 §2
    EXPECT_EQ(basic("QWxhZGRpbjpvcGVuIHNlc2FtZQ=="), "Aladdin / open sesame");
    EXPECT_EQ(basic("dGVzdDoxMjPCow=="), "test / 123£");
    EXPECT_EQ(basic("YTpiOmM="), "a / b:c") << "the first colon counts";
    EXPECT_EQ(basic("YTo="), "a / ");
    EXPECT_EQ(basic("  YTpi "), "a / b");
    EXPECT_EQ(read("proxy-authorization: bASIC YTpi"), "a / b");
}

TEST(BasicCredentials, AreAbsentWithoutTheFieldOrScheme) {
    EXPECT_EQ(read(""), "absent");
    EXPECT_EQ(read("Authorization: Basic YTpi"), "absent");
    EXPECT_EQ(read("Proxy-Authorization: Bearer YTpi"), "absent");
    EXPECT_EQ(read("Proxy-Authorization: BasicX YTpi"), "absent");
    EXPECT_EQ(read("Proxy-Authorization:"), "absent");
}

TEST(BasicCredentials, AreMalformedWithAnyDoubt) {
    for (const auto* value :
         {"", "YQ==", "YTpi=", "YTp", "Y=pi", "YTpi====", "=", "====", "YTpi YTpi", "YTpi,YTpi",
          "YT-i", "OmI=", "AAA6YQ==", "YToK", "YTp/fw=="})
        EXPECT_EQ(basic(value), "malformed") << value;
    EXPECT_EQ(read("Proxy-Authorization: Basic"), "malformed");
    EXPECT_EQ(read("Proxy-Authorization: Basic YTpi\nProxy-Authorization: Basic YTpi"),
              "malformed");
    EXPECT_EQ(basic(std::string(1024, 'Y') + "Tpi"), "malformed") << "too long";
}

TEST(BasicCredentials, HaveAChallengeThatQuotesTheRealm) {
    EXPECT_EQ(basic_challenge("a \"b\" \\"), R"(Basic realm="a \"b\" \\", charset="UTF-8")");
}

}  // namespace basic_credentials_test
}  // namespace proxy
