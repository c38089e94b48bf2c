#include "proxy/upstream/shown_url.hpp"

#include <gtest/gtest.h>

#include "proxy/rewrite/mirror.hpp"
#include "tests/proxy/request/request.hpp"

namespace proxy {
namespace shown_url_test {

class ShownUrl : public testing::Test {
protected:
    ShownUrl() {
        Rule signed_urls;
        signed_urls.name = "signed";
        signed_urls.match.paths = {Glob("/blobs/*")};
        signed_urls.query.mode = QueryRule::Mode::drop;
        signed_urls.query.names = {Glob("sig")};
        config.rules = RuleTable({signed_urls});
    }
    std::string shown(std::string_view url) {
        auto key = test::key_of(url);
        SitePolicy policy;
        choose_rule(config, "GET", key, policy);
        std::string scratch;
        return std::string(shown_url(key, policy, scratch));
    }
    Config config;
};

TEST_F(ShownUrl, HasNoParameterThatARuleDrops) {
    EXPECT_EQ(shown("http://h/blobs/a?v=1&sig=secret"), "http://h/blobs/a?v=1");
    EXPECT_EQ(shown("http://h/other?sig=1"), "http://h/other?sig=1");
}

TEST_F(ShownUrl, HasNoQueryWhereNobodyKnowsTheRule) {
    EXPECT_EQ(shown("http://h/blobs%2Fa?v=1&sig=secret"), "http://h/blobs%2Fa");
}

TEST_F(ShownUrl, OfAMirrorHasNoneEither) {
    auto key = test::key_of("http://h/blobs/a?v=1&sig=secret");
    Mirror mirror;
    mirror.here.path = "/blobs";
    mirror.origin = {Scheme::https, "o.test", "/x"};
    SitePolicy policy;
    policy.mirror = &mirror;
    choose_rule(config, "GET", key, policy);
    EXPECT_EQ(shown_url_at_origin(key, policy, false), "https://o.test/x/a?v=1");
    EXPECT_EQ(shown_url_at_origin(key, policy, true), "https://o.test/x/a") << "of a Location";
}

TEST_F(ShownUrl, OfATextIsJudgedAlike) {
    EXPECT_EQ(shown_text(config.rules, "http://me:pw@h/blobs/a?sig=secret"), "http://h/blobs/a");
    EXPECT_EQ(shown_text(config.rules, "http://h/other?sig=1"), "http://h/other?sig=1");
    EXPECT_EQ(shown_text(config.rules, "/blobs/a?sig=secret x"), "/blobs/a") << "no URL";
    EXPECT_EQ(shown_text(RuleTable(), "/a?b c"), "/a?b c");
    EXPECT_EQ(shown_text(RuleTable(), "http://me@h/a?b"), "http://h/a?b");
}

}  // namespace shown_url_test
}  // namespace proxy
