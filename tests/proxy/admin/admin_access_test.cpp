#include "proxy/admin/admin_access.hpp"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace proxy {
namespace admin_access_test {

namespace http = boost::beast::http;

const std::string kToken = "0123456789abcdef";

class AdminRequests : public ::testing::Test {
protected:
    using Lines = std::vector<std::pair<std::string, std::string>>;
    AdminVerdict ask(const Lines& lines, bool guarded = true,
                     const char* from = "127.0.0.1") const {
        http::fields fields;
        for (const auto& [name, value] : lines) fields.insert(name, value);
        return admit(config, fields, guarded, boost::asio::ip::make_address(from));
    }
    AdminConfig config;
};

TEST_F(AdminRequests, AreForAddressesLocalhostAndConfiguredNames) {
    config.names = {"node-a.test"};
    for (const auto* host : {"127.0.0.1", "127.0.0.1:9128", "[::1]:9128", "10.0.0.7", "localhost",
                             "LocalHost:9128", "node-a.test", "Node-A.test:9128"})
        EXPECT_EQ(ask({{"Host", host}}), AdminVerdict::granted) << host;
    EXPECT_EQ(ask({}), AdminVerdict::granted);
    for (const auto* host :
         {"evil.test", "localhost.evil.test", "127.0.0.1.evil.test:9128", "node-a", "a b", ""})
        EXPECT_EQ(ask({{"Host", host}}, false), AdminVerdict::unknown_host) << host;
    EXPECT_EQ(ask({{"Host", "localhost"}, {"Host", "evil.test"}}), AdminVerdict::unknown_host);
}

TEST(OwnPage, IsTheOriginThatHasTheAuthorityOfHost) {
    const auto is_own = [](const char* host, const char* origin) {
        http::fields fields;
        fields.set(http::field::host, host);
        fields.set(http::field::origin, origin);
        return is_from_own_page(fields);
    };
    EXPECT_TRUE(is_own("127.0.0.1:9128", "http://127.0.0.1:9128"));
    EXPECT_TRUE(is_own("Localhost:9128", "http://localhost:9128"));
    EXPECT_TRUE(is_own("[::1]:9128", "http://[::1]:9128"));
    EXPECT_TRUE(is_own("node-a.test", "https://node-a.test")) << "TLS ends in front of the node";
    for (const auto* origin :
         {"null", "", "http://", "http://127.0.0.1", "http://127.0.0.1:8080", "http://evil.test",
          "http://127.0.0.1:9128.evil.test", "http://127.0.0.1:9128/", "ftp://127.0.0.1:9128",
          "http://127.0.0.1:9128 http://evil.test", "127.0.0.1:9128"})
        EXPECT_FALSE(is_own("127.0.0.1:9128", origin)) << origin;
    http::fields two;
    two.insert(http::field::host, "h");
    EXPECT_FALSE(is_from_own_page(two)) << "no Origin";
    two.insert(http::field::origin, "http://h");
    two.insert(http::field::origin, "http://evil.test");
    EXPECT_FALSE(is_from_own_page(two));
}

TEST_F(AdminRequests, DoNotComeThroughAProxy) {
    config.token = kToken;
    for (const auto* name : {"Via", "X-Forwarded-For", "x-forwarded-for", "Forwarded"})
        for (const auto guarded : {false, true})
            EXPECT_EQ(
                ask({{"Host", "localhost"}, {name, "1.1 a"}, {"Authorization", "Bearer " + kToken}},
                    guarded),
                AdminVerdict::proxied)
                << name;
}

TEST_F(AdminRequests, AreFromLoopbackWhereATokenWouldBeNeededAndThereIsNone) {
    for (const auto* from : {"127.0.0.1", "127.1.2.3", "::1", "::ffff:127.0.0.1"})
        EXPECT_EQ(ask({}, true, from), AdminVerdict::granted) << from;
    for (const auto* from : {"10.0.0.1", "192.168.0.1", "fe80::1", "1.1.1.1"}) {
        EXPECT_EQ(ask({}, true, from), AdminVerdict::needs_loopback) << from;
        EXPECT_EQ(ask({}, false, from), AdminVerdict::granted) << from;
    }
}

TEST_F(AdminRequests, GiveTheTokenWhereverTheyComeFrom) {
    config.token = kToken;
    for (const auto* from : {"127.0.0.1", "10.0.0.1"}) {
        EXPECT_EQ(ask({{"Authorization", "Bearer " + kToken}}, true, from), AdminVerdict::granted);
        EXPECT_EQ(ask({{"Authorization", "bearer " + kToken}}, true, from), AdminVerdict::granted);
        for (const auto& wrong : std::vector<std::string>{
                 "", "Bearer", "Bearer ", "Bearer " + kToken + "x", "Basic " + kToken,
                 "Bearer " + kToken.substr(1), kToken, "Bearer 0123456789abcdeF"})
            EXPECT_EQ(ask({{"Authorization", wrong}}, true, from), AdminVerdict::needs_token)
                << wrong;
        EXPECT_EQ(ask({}, true, from), AdminVerdict::needs_token);
        EXPECT_EQ(ask({}, false, from), AdminVerdict::granted);
    }
    const auto right = "Bearer " + kToken;
    EXPECT_EQ(ask({{"Authorization", right}, {"Authorization", right}}), AdminVerdict::needs_token);
    config.token_for = TokenFor::all;
    EXPECT_EQ(ask({}, false), AdminVerdict::needs_token);
    EXPECT_EQ(ask({{"Authorization", right}}, false), AdminVerdict::granted);
}

TEST_F(AdminRequests, GetASentenceAboutTheMissingCondition) {
    for (const auto refused : {AdminVerdict::unknown_host, AdminVerdict::proxied,
                               AdminVerdict::needs_token, AdminVerdict::needs_loopback})
        EXPECT_FALSE(explain(refused).empty());
}

}  // namespace admin_access_test
}  // namespace proxy
