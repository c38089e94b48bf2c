#include "proxy/upstream/site.hpp"

#include <gtest/gtest.h>

#include "proxy/tls/tls_contexts.hpp"
#include "tests/proxy/request/request.hpp"

namespace proxy {
namespace site_test {

using test::key_of;

class SiteTest : public ::testing::Test {
protected:
    Site site(std::string_view target, bool absolute = true) const {
        return choose_site(config, key_of(target), absolute);
    }
    UpstreamTarget upstream(std::string_view target, bool absolute = true) const {
        return target_of(config, site(target, absolute), key_of(target), "10.1.2.3").value();
    }
    LoadedConfig config;
};

TEST_F(SiteTest, IsTheFirstEntryThatMatchesInEitherForm) {
    config.origins = {{"h.test", {"10.0.0.1", 81}}, {"*", {"10.0.0.2", 82}}};
    for (const auto absolute : {false, true}) {
        const auto* target = absolute ? "http://h.test/" : "/";
        EXPECT_EQ(site(target, absolute).entry, &config.origins[0]);
        EXPECT_EQ(upstream(target, absolute).port, 81);
        EXPECT_FALSE(upstream(target, absolute).on_clients_word) << "may be in a private network";
    }
    EXPECT_EQ(site("http://other.test/").entry, &config.origins[1]);
    EXPECT_EQ(upstream("http://other.test/").port, 82);
}

TEST_F(SiteTest, ComparesHostsAsUrisDo) {  // RFC 3986 §3.2.2
    config.origins = {{"b.test", {"one", 80}}, {"[::1]", {"two", 80}}};
    EXPECT_TRUE(site("http://B.test/").of_entry());
    EXPECT_TRUE(site("http://b.test./").of_entry());
    EXPECT_TRUE(site("http://[0:0::1]/").of_entry());
    EXPECT_FALSE(site("http://xb.test/").of_entry());
}

TEST_F(SiteTest, MatchesNamesBelowAWildcard) {
    config.origins = {{"*.h.test", {"10.0.0.1", 81}}};
    for (const auto* host : {"a.h.test", "a.b.H.test", "a.h.test."})
        EXPECT_TRUE(site("http://" + std::string(host) + "/").of_entry()) << host;
    for (const auto* host : {"h.test", "xh.test", ".h.test", "a.h.test.x"})
        EXPECT_FALSE(site("http://" + std::string(host) + "/").of_entry()) << host;
}

TEST_F(SiteTest, MatchesThePathInNormalForm) {
    config.origins = {{"*", {"10.0.0.1", 81}}, {"*", {"10.0.0.2", 82}}};
    config.origins[0].path = "/api";
    for (const auto* path :
         {"/api", "/api/", "/api?x", "/api/a/b", "/%61pi/x", "//api/x", "/x/../api", "/./api/x"})
        EXPECT_EQ(upstream("http://h.test" + std::string(path)).port, 81) << path;
    for (const auto* path : {"/", "/apix", "/x/api", "/API", "/api/../x", "/?/api"})
        EXPECT_EQ(upstream("http://h.test" + std::string(path)).port, 82) << path;
    config.origins[0].path = "/api/";
    EXPECT_EQ(upstream("http://h.test/api/x").port, 81);
    EXPECT_EQ(upstream("http://h.test/api").port, 82);
}

TEST_F(SiteTest, LeavesTheServerOfAGroupOpen) {
    UpstreamGroupConfig group;
    group.name = "*";
    group.servers.emplace_back().place = {"10.0.0.9", 90};
    config.origins = {{"*", {}}};
    config.origins[0].group = std::make_shared<const UpstreamGroupConfig>(group);
    const auto target = upstream("http://h.test/x");
    EXPECT_EQ(target.group, config.origins[0].group);
    EXPECT_EQ(connection_key(target), "*");
    EXPECT_FALSE(target.on_clients_word);
    EXPECT_NE(target.spread, upstream("http://h.test/y").spread);
}

TEST_F(SiteTest, HasTheParentsOfForwardTargets) {
    UpstreamGroupConfig parents;
    parents.parents = true;
    parents.servers.emplace_back().place = {"10.0.0.9", 90};
    config.forward.enabled = true;
    config.forward.parents = std::make_shared<const UpstreamGroupConfig>(parents);
    config.forward.no_proxy.hosts.emplace_back("*.direct.test");
    config.origins = {{"h.test", {"10.0.0.1", 81}}};
    const auto target = upstream("http://else.test:8080/");
    EXPECT_EQ(target.group, config.forward.parents);
    EXPECT_EQ(target.host, "else.test");
    EXPECT_EQ(target.port, 8080);
    EXPECT_TRUE(target.on_clients_word);
    EXPECT_FALSE(upstream("http://a.direct.test/").group);
    EXPECT_FALSE(upstream("http://h.test/").group) << "an entry of origins goes direct";
}

TEST_F(SiteTest, IsTheTargetInForwardMode) {
    config.forward.enabled = true;
    const auto found = upstream("http://[::1]:8080/");
    EXPECT_EQ(found.host, "::1");
    EXPECT_EQ(found.port, 8080);
    EXPECT_TRUE(found.on_clients_word);
    EXPECT_EQ(found.client, "10.1.2.3");
    EXPECT_FALSE(site("http://[::1]:8080/").of_entry());
}

TEST_F(SiteTest, SaysWhyThereIsNone) {
    EXPECT_EQ(site("/", false).none, SiteRefusal::no_origin);
    EXPECT_EQ(site("http://h.test/").none, SiteRefusal::forward_disabled);
    config.forward.enabled = true;
    EXPECT_EQ(site("/", false).none, SiteRefusal::only_forward);
    EXPECT_FALSE(target_of(config, site("/", false), key_of("/")));
    EXPECT_EQ(site("http://h.test/").none, std::nullopt);
    config.origins = {{"other.test", {"10.0.0.1", 81}}};
    EXPECT_EQ(site("/", false).none, SiteRefusal::no_origin);
}

TEST_F(SiteTest, ReadsCdnCacheControlOnlyWhereItActsForTheOrigin) {  // RFC 9213 §3.1
    config.forward.enabled = true;
    config.origins = {{"h.test", {"10.0.0.1", 81}}};
    EXPECT_TRUE(site("http://h.test/").policy.rules().cdn_cache_control);
    EXPECT_FALSE(site("http://other.test/").policy.rules().cdn_cache_control);
    config.cache.rules.cdn_cache_control = false;
    EXPECT_FALSE(site("http://h.test/").policy.rules().cdn_cache_control);
}

TEST_F(SiteTest, HasTheRulesOfTheCacheAlsoWhereThereIsNone) {  // a peer may ask for it
    config.cache.rules.store_set_cookie = true;
    config.cache.block = 7;
    const auto none = site("/", false);
    ASSERT_TRUE(none.none);
    EXPECT_TRUE(none.policy.rules().store_set_cookie);
    EXPECT_EQ(none.policy.cache->block, 7u);
}

TEST_F(SiteTest, IsSecuredAsTheEntryOrElseTheTargetSays) {
    config.forward.enabled = true;
    config.origins = {{"plain.test", {"10.0.0.1", 80}},
                      {"one.test", {"10.0.0.2", 443}, OriginTlsConfig{}},
                      {"same.test", {"10.0.0.2", 443}, OriginTlsConfig{}},
                      {"other.test", {"10.0.0.2", 443}, OriginTlsConfig{false, {}, {}}}};
    config.trust = load_tls(config).trust;
    ASSERT_TRUE(config.trust);
    const auto tls = [&](std::string_view target) { return upstream(target).tls; };
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

TEST_F(SiteTest, OutlivesAReload) {
    config.origins = {{"h.test", {"10.0.0.1", 81}}};
    config.cache.block = 7;
    auto in_effect = std::make_shared<const LoadedConfig>(config);
    const auto kept =
        keep_site(in_effect, choose_site(*in_effect, key_of("/"), false), key_of("/"));
    in_effect = std::make_shared<const LoadedConfig>();
    EXPECT_EQ(kept.site.entry->server.port, 81);
    EXPECT_EQ(kept.site.policy.cache->block, 7u);
    EXPECT_EQ(kept.origin->port, 81);
}

}  // namespace site_test
}  // namespace proxy
