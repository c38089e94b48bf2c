#include "proxy/http/path_readings.hpp"

#include <gmock/gmock.h>

#include "proxy/blocklists/blocklists.hpp"
#include "proxy/upstream/site.hpp"
#include "tests/proxy/blocklists/blocklist_kit.hpp"
#include "tests/proxy/request/request.hpp"

namespace proxy {
namespace path_readings_test {

using testing::Contains;
using testing::ElementsAre;
using testing::SizeIs;
using testing::UnorderedElementsAre;

std::vector<std::string> readings(std::string_view path) {
    const PathReadings all(path);
    EXPECT_TRUE(all.complete);
    return all.forms;
}

/// Spellings of a path below /account for an origin that reads it in one of the ways that
/// path_readings.hpp lists. The normal form of RFC 3986 shows it for the first ones alone.
constexpr const char* kSpellings[] = {
    "/account/profile",          "/%61ccount/profile",
    "//account/profile",         "/./account/profile",
    "/x/../account/profile",     "/account//profile",
    "/account/./profile",        "/account%2Fprofile",
    "/account%2fprofile",        "/account%252Fprofile",
    "/%2561ccount/profile",      "/account\\profile",
    "/account%5Cprofile",        "/account%255cprofile",
    "/account;x/profile",        "/account;x=1;y=2/profile",
    "/account%3Bx/profile",      "/account%253Bx/profile",
    "/;/account/profile",        "/.;/account/profile",
    "/x/..;/account/profile",    "/x/..;a=1/account/profile",
    "/x/..%2faccount/profile",   "/x/%2e%2e%2Faccount/profile",
    "/x/..%252faccount/profile", "/x/..%5Caccount/profile",
    "/x/..\\account/profile",    "/x/y/..;z%2f..%5caccount/profile",
    "/account%2F%2Fprofile",     "/account/profile%3Fx",
    "/account//../profile",      "/x//../..%2Faccount/profile",
};

TEST(PathReadings, HaveThePathThatAnOriginMayServe) {
    for (const auto* path : kSpellings)
        EXPECT_THAT(readings(path), Contains("/account/profile")) << path;
}

TEST(PathReadings, AreOneWhereAllOriginsAgree) {
    for (const auto* path :
         {"/", "/a/b.c", "/a//b", "/.hidden", "/a/./b", "/a/../b", "/a%20b", "/@scope", "/%40scope",
          "/a+b", "/a%2Bb", "/caf\xc3\xa9", "/caf%C3%A9", "/a?b=%2F;//", "*"})
        EXPECT_THAT(readings(path), SizeIs(1)) << path;
    EXPECT_TRUE(has_one_reading("/a/b.c@d:e,f+g!h~i_j-k"));
    for (const auto* path : {"/a%20", "/a;b", "/a\\b", "//a", "/a/.b", "/\xc3\xa9", "/a b", "/[a]"})
        EXPECT_FALSE(has_one_reading(path)) << path;
}

TEST(PathReadings, BeginWithTheNormalForm) {
    EXPECT_THAT(readings("/a;b/c"), ElementsAre("/a;b/c", "/a/c"));
    EXPECT_THAT(readings("/a%2fb"), ElementsAre("/a%2Fb", "/a/b"));
    EXPECT_THAT(readings("/%2540"), ElementsAre("/%2540", "/@"));
    EXPECT_THAT(readings("/100%25.txt"), ElementsAre("/100%25.txt"));
    EXPECT_THAT(readings("/a%3fb"), ElementsAre("/a%3Fb", "/a"));
    EXPECT_THAT(readings("/a//../b"), UnorderedElementsAre("/b", "/a/b"));
}

TEST(PathReadings, AreBounded) {
    std::string path;
    for (int i = 0; i < 1000; ++i) path += "/a;b%252F..%5C//../%3F";
    const PathReadings all(path);
    EXPECT_FALSE(all.complete);
    EXPECT_LT(all.forms.size() * path.size(), 300'000u);
}

TEST(PathForRules, ResolvesDotsWithoutTouchingTheRest) {
    const auto normal = [](std::string_view path) {
        std::string scratch;
        return std::string(path_for_rules(path, scratch));
    };
    EXPECT_EQ(normal("/a/b?c=/../d"), "/a/b");
    EXPECT_EQ(normal("/a/./b/"), "/a/b/");
    EXPECT_EQ(normal("/a/.."), "/");
    EXPECT_EQ(normal("/.hidden/..x"), "/.hidden/..x");
    EXPECT_EQ(normal("/a%20b/%7Ec"), "/a%20b/~c");
    EXPECT_EQ(normal("/a b/%40\\"), "/a%20b/@%5C");
    EXPECT_EQ(normal("/a%2fb"), "/a%2Fb");
    EXPECT_EQ(normal("/a%2"), "/a%252");
    EXPECT_EQ(normal("//"), "/");
    EXPECT_EQ(normal("*"), "*");
}

TEST(PathForRules, FindsWhatIsOddAtEveryPlace) {
    const auto normal = [](std::string_view path) {
        std::string scratch;
        return std::string(path_for_rules(path, scratch));
    };
    for (std::size_t before = 1; before < 20; ++before) {
        for (std::size_t after = 0; after < 20; ++after) {
            const auto begin = "/" + std::string(before, 'a'), end = "b" + std::string(after, 'c');
            EXPECT_EQ(normal(begin + "/" + end), begin + "/" + end);
            EXPECT_EQ(normal(begin + "." + end), begin + "." + end);
            EXPECT_EQ(normal(begin + "/." + end), begin + "/." + end) << "a hidden file";
            EXPECT_EQ(normal(begin + "//" + end), begin + "/" + end);
            EXPECT_EQ(normal(begin + "/./" + end), begin + "/" + end);
            EXPECT_EQ(normal(begin + "/../" + end), "/" + end);
            EXPECT_EQ(normal(begin + "%7E" + end), begin + "~" + end);
        }
    }
}

// Every way to compare paths, for every spelling.

class JudgesOfPaths : public testing::Test, protected test::ListFolder {
protected:
    JudgesOfPaths() {
        account.name = "account";
        account.match.paths = {Glob("/account/*")};
        rest.name = "rest";
        rest.storing.at_least = std::chrono::hours(1);
    }
    static bool evades(const RuleTable& table, std::string_view path,
                       bool (*is_judged)(const Rule&)) {
        const auto* const rule = table.find("GET", "h", path);
        return !rule || !is_judged(*rule);
    }
    Rule account, rest;
};

TEST_F(JudgesOfPaths, ARuleThatBypassesIsNotEvaded) {
    account.bypass = true;
    for (const auto* path : kSpellings)
        for (const auto& table : {RuleTable({account}), RuleTable({account, rest})})
            EXPECT_FALSE(evades(table, path, [](const Rule& rule) { return rule.bypass; })) << path;
}

TEST_F(JudgesOfPaths, ARuleThatAuthorizesIsNotEvaded) {
    account.storing.authorize = true;
    const auto is_safe = [](const Rule& rule) { return rule.storing.authorize || rule.bypass; };
    for (const auto* path : kSpellings)
        for (const auto& table : {RuleTable({account}), RuleTable({account, rest})})
            EXPECT_FALSE(evades(table, path, is_safe)) << path;
}

TEST_F(JudgesOfPaths, AnAgeIsNotEvaded) {
    account.min_age = std::chrono::hours(7);
    auto other = rest;
    other.match.hosts = {Glob("other")};
    other.min_age = std::chrono::hours(1000);
    for (const auto* path : kSpellings) {
        const RuleTable table({other, account, rest});
        const auto* const rule = table.find("GET", "h", path);
        ASSERT_TRUE(rule) << path;
        EXPECT_EQ(rule->min_age, std::chrono::hours(7)) << path << ": not that of another host";
    }
}

TEST_F(JudgesOfPaths, ARuleThatOnlyRestrictsAppliesItself) {
    account.bypass = true;
    const RuleTable alone({account}), both({account, rest});
    EXPECT_EQ(alone.find("GET", "h", "/account%2Fx")->name, "account");
    EXPECT_EQ(both.find("GET", "h", "/account%2Fx")->name, RuleTable::kTwoReadings);
    account.request_fields.set = {{"Authorization", "secret"}};
    const RuleTable secret({account});
    EXPECT_EQ(secret.find("GET", "h", "/account%2Fx")->name, RuleTable::kTwoReadings)
        << "no credential goes where the rule does not lead";
}

TEST_F(JudgesOfPaths, AListIsNotEvaded) {
    add("u", kUrls, "h/account/profile\n");
    const auto lists = read();
    for (const auto* path : kSpellings) EXPECT_TRUE(lists->find("h", path).refused) << path;
    EXPECT_FALSE(lists->find("h", "/account/other%2Fprofile").refused);
    EXPECT_TRUE(lists->find("h", "/account%2Fprofile?x").refused);
}

TEST_F(JudgesOfPaths, APathThatNobodyCanJudgeIsTakenForListedWhereAPathOfItsHostIs) {
    add("u", kUrls, "h/account/profile\n");
    const auto lists = read();
    std::string path;
    for (int i = 0; i < 400; ++i) path += "/a;b%252F..%5C//../%3F";
    EXPECT_TRUE(lists->find("h", path).refused);
    EXPECT_FALSE(lists->find("other", path).refused);
}

TEST_F(JudgesOfPaths, AnEntryOfOriginsIsNotEvaded) {
    LoadedConfig config;
    config.origins = {{"*", {"10.0.0.1", 81}}, {"*", {"10.0.0.2", 82}}};
    config.origins[0].path = "/account";
    const auto* const account_entry = &config.origins[0];
    for (const auto* path : kSpellings) {
        const auto key = test::key_of("http://h.test" + std::string(path));
        const auto site = choose_site(config, key, false);
        EXPECT_TRUE(site.entry == account_entry || site.none == SiteRefusal::two_readings) << path;
    }
    const auto site = choose_site(config, test::key_of("http://h.test/account%2Fx"), false);
    EXPECT_EQ(site.none, SiteRefusal::two_readings);
    EXPECT_EQ(choose_site(config, test::key_of("http://h.test/account/a%2Fb"), false).entry,
              account_entry)
        << "all readings are of one entry";
}

}  // namespace path_readings_test
}  // namespace proxy
