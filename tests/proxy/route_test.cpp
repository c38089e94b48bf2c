#include "proxy/upstream/route.hpp"

#include <gtest/gtest.h>

#include <variant>

#include "tests/proxy/request.hpp"

namespace proxy {
namespace route_test {

using test::key_of;

class Route : public ::testing::Test {
protected:
    OriginRoute route(std::string_view target, bool absolute) const {
        return route_to_origin(config, key_of(target), absolute);
    }
    Config config;
};

TEST_F(Route, GoesToTheFirstOriginEntryThatMatchesInEitherForm) {
    config.origins = {{"h.test", {"10.0.0.1", 81}}, {"*", {"10.0.0.2", 82}}};
    for (const auto absolute : {false, true}) {
        const auto found = route(absolute ? "http://h.test/" : "/", absolute);
        ASSERT_TRUE(std::holds_alternative<UpstreamTarget>(found));
        EXPECT_EQ(std::get<UpstreamTarget>(found).port, 81);
        EXPECT_FALSE(
            std::get<UpstreamTarget>(found).on_clients_word);  // configured origins may be private
    }
    EXPECT_EQ(std::get<UpstreamTarget>(route("http://other.test/", true)).port, 82);
}

TEST_F(Route, GoesToTheTargetInForwardMode) {
    config.forward.enabled = true;
    const auto found = std::get<UpstreamTarget>(route("http://[::1]:8080/", true));
    EXPECT_EQ(found.host, "::1");
    EXPECT_EQ(found.port, 8080);
    EXPECT_TRUE(found.on_clients_word);
}

TEST_F(Route, SaysWhyThereIsNone) {
    EXPECT_EQ(std::get<NoRoute>(route("/", false)), NoRoute::no_origin);
    EXPECT_EQ(std::get<NoRoute>(route("http://h.test/", true)), NoRoute::forward_disabled);
    config.forward.enabled = true;
    EXPECT_EQ(std::get<NoRoute>(route("/", false)), NoRoute::only_forward);
    config.origins = {{"other.test", {"10.0.0.1", 81}}};
    EXPECT_EQ(std::get<NoRoute>(route("/", false)), NoRoute::no_origin);
}

TEST_F(Route, IsSecuredAsTheEntryOrElseTheTargetSays) {
    config.forward.enabled = true;
    config.origins = {{"plain.test", {"10.0.0.1", 80}},
                      {"one.test", {"10.0.0.2", 443}, OriginTlsConfig{}},
                      {"same.test", {"10.0.0.2", 443}, OriginTlsConfig{}},
                      {"other.test", {"10.0.0.2", 443}, OriginTlsConfig{false, {}, {}}}};
    ASSERT_TRUE(load_tls(config).empty());
    const auto tls = [&](std::string_view target) {
        return std::get<UpstreamTarget>(route(target, true)).tls;
    };
    EXPECT_FALSE(tls("https://plain.test/"));
    EXPECT_FALSE(tls("http://else.test/"));
    ASSERT_TRUE(tls("http://one.test/"));
    EXPECT_EQ(tls("http://one.test/")->name, "10.0.0.2");
    EXPECT_EQ(tls("http://one.test/"), tls("https://same.test/"));
    EXPECT_NE(tls("http://one.test/"), tls("http://other.test/"));
    ASSERT_TRUE(tls("https://else.test/"));
    EXPECT_EQ(tls("https://else.test/")->name, "");
    EXPECT_NE(tls("https://else.test/")->id, tls("http://one.test/")->id);
}

}  // namespace route_test
}  // namespace proxy
