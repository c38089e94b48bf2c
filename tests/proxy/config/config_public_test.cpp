// Mirror names in the configuration: `origins[].public` and its companions.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>

#include "proxy/config/config_json.hpp"
#include "proxy/config/parse_config.hpp"
#include "proxy/upstream/site.hpp"

namespace proxy {
namespace config_public_test {

using ::testing::HasSubstr;

auto read(const std::string& entries) {
    return parse_config(R"({"node": "a", "listen": "127.0.0.1:3128", "origins": [)" + entries +
                        "]}");
}

std::string errors(const std::string& entries) {
    const auto result = read(entries);
    EXPECT_FALSE(result.config) << entries;
    return describe(result.errors);
}

LoadedConfig config(const std::string& entries) {
    auto result = read(entries);
    EXPECT_TRUE(result.config) << describe(result.errors);
    return result.config.value_or(LoadedConfig());
}

std::string_view to_string(SiteRefusal reason) {
    return reason == SiteRefusal::unknown_registry ? "unknown_registry"
           : reason == SiteRefusal::no_origin      ? "no_origin"
                                                   : "another reason";
}

Site site_of(const LoadedConfig& config, std::string_view url) {
    CacheKey key;
    EXPECT_EQ(key.assign_url(url), TargetError::none);
    return choose_site(config, key, false);
}

TEST(PublicUrl, IsPrintedAsItIsRead) {
    const auto made = config(R"({"host": "pypi.org", "url": "https://pypi.org/simple/",
        "public": "http://Mirror.example:80/pypi/", "rewrite": ["links", "location"],
        "rewrite_up_to": "1MiB"}, {"host": "b", "url": "http://b", "public": "https://m"})");
    const auto shown = nlohmann::json::parse(effective_config(made)).at("origins");
    EXPECT_EQ(shown[0].at("url"), "https://pypi.org:443/simple");
    EXPECT_EQ(shown[0].at("public"), "http://mirror.example/pypi");
    EXPECT_EQ(shown[0].at("rewrite"), nlohmann::json::parse(R"(["location", "links"])"));
    EXPECT_EQ(shown[0].at("rewrite_up_to"), "1MiB");
    EXPECT_EQ(shown[1].at("rewrite"), nlohmann::json::parse(R"(["location"])"));
    EXPECT_TRUE(read(shown[0].dump()).config);
}

TEST(PublicUrl, IsAskedBeforeHostsAndInTheOrderOfItsLength) {
    const auto made = config(R"({"host": "*", "url": "http://any"},
        {"host": "a", "url": "https://a/x", "public": "http://m/a"},
        {"host": "b", "url": "http://b:81", "public": "http://m/a/b", "rewrite": []})");
    EXPECT_EQ(site_of(made, "http://m/x").entry, &made.origins[0]);
    EXPECT_EQ(site_of(made, "http://m/a/x").entry, &made.origins[1]);
    EXPECT_EQ(site_of(made, "http://m/a/b").entry, &made.origins[2]);
    EXPECT_EQ(site_of(made, "http://m/a/b").policy.mirror->origin.authority, "b:81");
    EXPECT_EQ(site_of(made, "http://m/a").policy.mirror->url_at_origin("/a/y"), "https://a/x/y");
    EXPECT_EQ(site_of(made, "http://m/x").policy.mirror, nullptr);
}

TEST(PublicUrl, GivesTheOriginItsOwnName) {
    const auto authority = [](const std::string& entry) {
        const auto made = config(entry);
        return made.mirrors->all().front().origin.authority;
    };
    EXPECT_EQ(authority(R"({"host": "*", "url": "https://o", "public": "http://m"})"), "o");
    EXPECT_EQ(authority(R"({"host": "o", "url": "http://o:8080", "public": "http://m"})"),
              "o:8080");
    EXPECT_EQ(authority(R"({"host": "n", "url": "http://10.0.0.1:80", "public": "http://m"})"),
              "n");
    EXPECT_EQ(
        authority(R"({"host": "n", "upstreams": [{"url": "http://s/p"}, {"url": "http://t/p"}],
                            "public": "http://m"})"),
        "n");
}

TEST(PublicUrl, SaysWhatToDoAboutAFault) {
    const auto with = [](const std::string& more) {
        return R"({"host": "o", "url": "http://o", )" + more + "}";
    };
    EXPECT_THAT(errors(with(R"("public": "m/x")")), HasSubstr("must be http[s]://host"));
    EXPECT_THAT(errors(with(R"("public": "http://m/x?y")")), HasSubstr("must have no query"));
    EXPECT_THAT(errors(with(R"("public": "http://m/a/../b")")), HasSubstr("must have a path of"));
    EXPECT_THAT(errors(with(R"("public": "http://m/a%2Fb")")), HasSubstr("must have a path of"));
    EXPECT_THAT(errors(with(R"("public": "http://m", "rewrite": ["x"])")),
                HasSubstr("rewrite[0]: must be \"location\", \"links\" or \"xet\""));
    EXPECT_THAT(errors(with(R"("rewrite": ["links"])")), HasSubstr("is for an entry with public"));
    EXPECT_THAT(errors(with(R"("rewrite_up_to": "1MiB")")),
                HasSubstr("is for an entry with public"));
    EXPECT_THAT(errors(R"({"host": "o", "url": "http://o/x"})"),
                HasSubstr("unless public is given"));
    EXPECT_THAT(errors(with(R"("public": "http://m")") + "," + with(R"("public": "http://m/")")),
                HasSubstr("is the public URL of another entry"));
    EXPECT_THAT(
        errors(R"({"host": "*", "upstreams": [{"url": "http://o"}], "public": "http://m"})"),
        HasSubstr("must be the origin's name"));
    EXPECT_THAT(errors(R"({"host": "o", "upstreams": [{"url": "http://o"}, {"url": "http://p/x"}],
                           "public": "http://m"})"),
                HasSubstr("must have the path of the first one"));
}

constexpr auto kRegistries = R"(
    {"host": "registry-1.docker.io", "url": "https://registry-1.docker.io",
     "public": "http://m:1/registry/docker.io", "ns": "docker.io"},
    {"host": "r", "url": "http://r", "public": "http://own", "ns": "r:5000"},
    {"host": "api", "url": "http://api"})";

/// The key and the entry of a request in origin-form.
std::pair<std::string, const OriginConfig*> led_to(const LoadedConfig& config,
                                                   std::string_view url) {
    CacheKey key;
    EXPECT_EQ(key.assign_url(url), TargetError::none);
    auto site = choose_site(config, key, false);
    follow_ns(config, boost::beast::http::verb::get, key, site);
    if (site.none) return {std::string(to_string(*site.none)), nullptr};
    return {std::string(key.uri()), site.entry};
}

TEST(PublicUrl, OfARegistryIsReachedByNsWhichLeavesTheKey) {
    const auto made = config(kRegistries);
    const auto* const docker = &made.origins[0];
    const auto* const other = &made.origins[1];
    const std::string at = "http://m:1/registry/docker.io/v2/";
    const struct {
        const char* asked;
        std::string key;
        const OriginConfig* entry;
    } table[] = {
        {"http://m:1/v2/a/manifests/1?ns=docker.io", at + "a/manifests/1", docker},
        {"http://any/v2/a/manifests/1?ns=docker.io", at + "a/manifests/1", docker},
        {"http://m:1/v2/a/tags/list?n=2&ns=docker.io&last=x", at + "a/tags/list?n=2&last=x",
         docker},
        {"http://m:1/v2/?ns=docker.io&ns=r:5000", at, docker},
        {"http://m:1/registry/docker.io/v2/a?ns=docker.io", at + "a", docker},
        {"http://own/v2/a?ns=docker.io", at + "a", docker},
        {"http://m:1/v2/a?ns=r%3A5000", "http://own/v2/a", other},
        {"http://m:1/v2/a?ns=ghcr.io", "unknown_registry", nullptr},
        {"http://own/v2/a?ns=ghcr.io", "unknown_registry", nullptr},
        {"http://m:1/v2/a?ns=", "unknown_registry", nullptr},
        {"http://m:1/v2/a?ns=Docker.io", "unknown_registry", nullptr},
        {"http://m:1/v2/a?ns=%zz", "no_origin", nullptr},
        {"http://m:1/v2/a?dns=docker.io", "no_origin", nullptr},
        {"http://m:1/x/v2/a?ns=docker.io", "no_origin", nullptr},
        {"http://own/x?ns=docker.io", "http://own/x?ns=docker.io", other},
        {"http://api/v2/a?ns=ghcr.io", "http://api/v2/a?ns=ghcr.io", &made.origins[2]},
    };
    for (const auto& [asked, key, entry] : table) {
        const auto [found, site] = led_to(made, asked);
        EXPECT_EQ(found, key) << asked;
        EXPECT_EQ(site, entry) << asked;
    }
    const auto without = config(R"({"host": "o", "url": "http://o", "public": "http://m:1"})");
    EXPECT_EQ(led_to(without, "http://m:1/v2/?ns=docker.io").first, "http://m:1/v2/?ns=docker.io");
}

TEST(PublicUrl, OfARegistryIsPrintedAndHasOneEntry) {
    const auto shown = nlohmann::json::parse(effective_config(config(kRegistries))).at("origins");
    EXPECT_EQ(shown[0].at("ns"), "docker.io");
    EXPECT_FALSE(shown[2].contains("ns"));
    EXPECT_THAT(errors(R"({"host": "a", "url": "http://a", "ns": "a"})"),
                HasSubstr("origins[0].ns: is for an entry with public"));
    EXPECT_THAT(errors(R"({"host": "a", "url": "http://a", "public": "http://a", "ns": "a"},
                          {"host": "b", "url": "http://b", "public": "http://b", "ns": "a"})"),
                HasSubstr("origins[1].ns: is that of another entry"));
    for (const auto* ns : {"", "A", "http://a", "a/b", "a?b"})
        EXPECT_THAT(errors(R"({"host": "a", "url": "http://a", "public": "http://a", "ns": ")" +
                           std::string(ns) + "\"}"),
                    HasSubstr("origins[0].ns"))
            << ns;
}

}  // namespace config_public_test
}  // namespace proxy
