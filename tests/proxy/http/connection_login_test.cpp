#include "proxy/http/connection_login.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace proxy::test {
namespace connection_login_test {

using boost::beast::http::field;

Field authorization(std::string_view value) {
    return {field::authorization, "Authorization", value};
}

Field challenge(std::string_view value) {
    return {field::www_authenticate, "WWW-Authenticate", value};
}

TEST(ConnectionLogin, IsSeenInARequestByItsScheme) {
    for (const auto* value :
         {"NTLM TlRMTVNTUAAB", "ntlm x", "Negotiate YII", "NEGOTIATE", "Nego2 x", "Kerberos x"})
        EXPECT_TRUE(logs_connection_in(std::vector{authorization(value)})) << value;
    for (const auto* value : {"Basic YTpi", "Bearer NTLM", "NTLMx y", "Negotiated x", ""})
        EXPECT_FALSE(logs_connection_in(std::vector{authorization(value)})) << value;
    EXPECT_TRUE(logs_connection_in(std::vector{authorization("Basic x"), authorization("NTLM x")}))
        << "an origin may read either of two lines";
    EXPECT_FALSE(logs_connection_in(std::vector{challenge("NTLM")}));
}

TEST(ConnectionLogin, IsOfferedByA401Alone) {
    for (const auto* value : {"NTLM", "Negotiate YII=", "Basic realm=\"a, b\", NTLM",
                              "Digest realm=x, nonce = \"y\", Negotiate", ", ,kerberos"})
        EXPECT_TRUE(offers_connection_login(401, std::vector{challenge(value)})) << value;
    for (const auto* value :
         {"Basic realm=\"x, NTLM\"", "Bearer scope=NTLM", "Basic x=1, NTLM = 2", "Basic"})
        EXPECT_FALSE(offers_connection_login(401, std::vector{challenge(value)})) << value;
    EXPECT_TRUE(offers_connection_login(401, std::vector{challenge("Basic"), challenge("NTLM")}));
    EXPECT_FALSE(offers_connection_login(200, std::vector{challenge("NTLM")}));
}

TEST(ConnectionLogin, LeavesTheOtherChallenges) {
    EXPECT_EQ(challenges_for_requests("NTLM"), "");
    EXPECT_EQ(challenges_for_requests("Negotiate, NTLM"), "");
    EXPECT_EQ(
        challenges_for_requests("Negotiate abc==, Basic realm=\"a, NTLM\", charset=\"UTF-8\""),
        "Basic realm=\"a, NTLM\", charset=\"UTF-8\"");
    EXPECT_EQ(challenges_for_requests("Digest realm=\"x\", nonce=\"y\",NTLM , Bearer"),
              "Digest realm=\"x\", nonce=\"y\", Bearer");
    EXPECT_EQ(challenges_for_requests("Basic realm=\"x\""), "Basic realm=\"x\"");
}

}  // namespace connection_login_test
}  // namespace proxy::test
