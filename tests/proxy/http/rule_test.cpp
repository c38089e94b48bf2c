#include "proxy/http/rule.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>

#include "proxy/http/cache_key.hpp"

namespace proxy {
namespace rule_test {

using namespace std::chrono_literals;

Rule rule(std::string name, std::vector<Glob> hosts, std::vector<Glob> paths = {},
          std::vector<std::string> methods = {}) {
    Rule rule;
    rule.name = std::move(name);
    rule.match = {std::move(hosts), std::move(paths), std::move(methods)};
    return rule;
}

std::string found(const RuleTable& table, std::string_view host, std::string_view path,
                  std::string_view method = "GET", RuleTable::HostMemo* memo = nullptr) {
    const auto* rule = table.find(method, host, path, memo);
    return rule ? rule->name : "none";
}

TEST(RuleTable, FindsTheRuleThatALookAtEachOneFinds) {
    const std::vector<std::string> hosts{"a.test", "b.a.test",      "c.b.a.test",     "a.example",
                                         "test",   "abcdefgh.test", "abcdefghi.test", "[::1]"};
    const std::vector<std::string> host_patterns{"a.test", "*.a.test",  "*.test",  "*",
                                                 "a.*",    "abcdefgh*", "*a.test", "*.b.*",
                                                 "[::1]",  "test"};
    const std::vector<std::string> paths{"/",         "/a",          "/a/b",      "/a/b.whl",
                                         "/abcdefgh", "/abcdefgh/i", "/abcdefghi"};
    const std::vector<std::string> path_patterns{"/",          "/a*",         "/a/*", "*.whl",
                                                 "/abcdefgh*", "/abcdefgh/*", "*",    "/a"};
    std::mt19937 random(7);
    const auto some = [&](const std::vector<std::string>& of) {
        std::vector<Glob> list;
        for (auto n = random() % 4; n > 0; --n) list.emplace_back(of[random() % of.size()]);
        return list;
    };
    const auto any = [](const std::vector<Glob>& globs, const std::string& text) {
        return globs.empty() ||
               std::ranges::any_of(globs, [&](const Glob& glob) { return glob.matches(text); });
    };
    RuleTable::HostMemo memo;
    for (int round = 0; round < 100; ++round) {
        std::vector<Rule> rules;
        for (int i = 0; i < 12; ++i)
            rules.push_back(rule(std::to_string(i), some(host_patterns), some(path_patterns)));
        const RuleTable table(rules);
        for (const auto& host : hosts)
            for (const auto& path : paths) {
                const auto first = std::ranges::find_if(rules, [&](const Rule& one) {
                    return any(one.match.hosts, host) && any(one.match.paths, path);
                });
                const auto name = first == rules.end() ? "none" : first->name;
                EXPECT_EQ(found(table, host, path), name) << host << path;
                EXPECT_EQ(found(table, host, path, "GET", &memo), name) << host << path;
            }
    }
}

TEST(RuleTable, AMemoIsOfOneTable) {
    RuleTable::HostMemo memo;
    auto table = std::make_unique<RuleTable>(std::vector{rule("one", {Glob("*.test")})});
    EXPECT_EQ(found(*table, "a.test", "/", "GET", &memo), "one");
    const RuleTable copy(*table);
    *table = RuleTable({rule("two", {Glob("*.test")})});
    EXPECT_EQ(found(*table, "a.test", "/", "GET", &memo), "two") << "at the same place";
    table.reset();
    EXPECT_EQ(found(copy, "a.test", "/", "GET", &memo), "one");
    EXPECT_EQ(found(copy, "b.example", "/", "GET", &memo), "none");
}

TEST(RuleTable, NamesHostsByOtherPatternsThanAllHosts) {
    const RuleTable table({rule("all", {Glob("*"), Glob("**")}), rule("any", {}),
                           rule("some", {Glob("a.test"), Glob("*.b.test"), Glob("[::1]")})});
    for (const auto* host : {"a.test", "x.b.test", "a.test.", "[0:0::1]"})
        EXPECT_TRUE(table.names_host(host)) << host;
    for (const auto* host : {"b.test", "c.test", ""}) EXPECT_FALSE(table.names_host(host)) << host;
}

TEST(RuleTable, FollowingRedirectsIsPartOfTheMark) {
    auto one = rule("one", {});
    one.storing.at_least = 1h;
    auto other = one;
    other.storing.follow_redirects = true;
    auto third = other;
    third.storing.redirect_fields = {"x-a"};
    const RuleTable table({one, other, third});
    EXPECT_NE(table.all()[0].mark, table.all()[1].mark);
    EXPECT_NE(table.all()[1].mark, table.all()[2].mark);
}

TEST(RuleTable, TheFirstRuleThatMatchesApplies) {
    const RuleTable table({rule("wheels", {Glob("files.test")}, {Glob("*.whl")}),
                           rule("files", {Glob("files.test")}),
                           rule("subdomains", {Glob("*.test")}, {Glob("/a/*"), Glob("/b/*")}),
                           rule("last", {}, {Glob("/everywhere")})});
    EXPECT_EQ(found(table, "files.test", "/x/y.whl"), "wheels");
    EXPECT_EQ(found(table, "files.test", "/x/y.zip"), "files");
    EXPECT_EQ(found(table, "other.test", "/b/c"), "subdomains");
    EXPECT_EQ(found(table, "other.test", "/c"), "none");
    EXPECT_EQ(found(table, "other.test", "/everywhere"), "last");
    EXPECT_EQ(found(table, "elsewhere.example", "/everywhere"), "last");
    EXPECT_EQ(found(table, "elsewhere.example", "/a/b"), "none");
    EXPECT_EQ(found(RuleTable(), "files.test", "/"), "none");
}

TEST(RuleTable, AnEarlierWildcardComesBeforeALaterName) {
    const RuleTable table({rule("wild", {Glob("*.test")}, {Glob("/a*")}),
                           rule("named", {Glob("h.test"), Glob("*.example")})});
    EXPECT_EQ(found(table, "h.test", "/abc"), "wild");
    EXPECT_EQ(found(table, "h.test", "/b"), "named");
    EXPECT_EQ(found(table, "x.example", "/b"), "named");
    EXPECT_EQ(found(table, "x.test", "/b"), "none");
}

TEST(RuleTable, ComparesPathsShorterAndLongerThanAWord) {
    const RuleTable table({rule("short", {}, {Glob("/a")}), rule("long", {}, {Glob("/12345678/*")}),
                           rule("seven", {}, {Glob("/123456*")})});
    EXPECT_EQ(found(table, "h", "/a"), "short");
    EXPECT_EQ(found(table, "h", "/a?b"), "short") << "the query does not count";
    EXPECT_EQ(found(table, "h", "/ab"), "none");
    EXPECT_EQ(found(table, "h", "/12345678/x"), "long");
    EXPECT_EQ(found(table, "h", "/1234567"), "seven");
    EXPECT_EQ(found(table, "h", "*"), "none");
}

TEST(RuleTable, NoSpellingOfAHostEvadesARule) {  // RFC 3986 §3.2.2
    const RuleTable table({rule("name", {Glob("h.test")}), rule("wild", {Glob("*.example")}),
                           rule("address", {Glob("[::1]")})});
    EXPECT_EQ(found(table, "h.test.", "/"), "name");
    EXPECT_EQ(found(table, "a.example.", "/"), "wild");
    EXPECT_EQ(found(table, "[0:0:0:0:0:0:0:1]", "/"), "address");
}

TEST(RuleTable, MethodsChooseAndHeadIsAGet) {
    const RuleTable table(
        {rule("reads", {}, {}, {"GET"}), rule("writes", {}, {}, {"PUT", "POST"})});
    EXPECT_EQ(found(table, "h", "/", "HEAD"), "reads");
    EXPECT_EQ(found(table, "h", "/", "POST"), "writes");
    EXPECT_EQ(found(table, "h", "/", "DELETE"), "none");
}

TEST(RuleTable, NoSpellingOfAPathEvadesARule) {  // RFC 3986 §6.2.2
    const RuleTable table({rule("closed", {}, {Glob("/closed/*")})});
    for (const auto* path :
         {"/closed/x", "/%63losed/x", "/c%6Cosed/x", "//closed//x", "/./closed/x", "/a/../closed/x",
          "/a/%2e%2E/closed/x", "/../closed/x", "/closed/", "/closed%2Fx"})
        EXPECT_EQ(found(table, "h", path), "closed") << path;
    for (const auto* path : {"/closed/../x", "/closed", "/open/closed/x", "/%zzclosed/"})
        EXPECT_EQ(found(table, "h", path), "none") << path;
}

TEST(RuleTable, APathOfTwoReadingsGoesPastTheCache) {
    Rule files, account;
    files.name = "files";
    files.match.paths = {Glob("/static/*")};
    files.storing.ignored.is_private = true;
    account.name = "account";
    account.match.paths = {Glob("/account*")};
    account.min_age = std::chrono::hours(1);
    const RuleTable table({files, account});
    for (const auto* path :
         {"/static/..%2faccount", "/static/%2e%2e%2Faccount", "/static/..%5Caccount",
          "/static/..\\account", "/static/..;a=1/account", "/static/x/..%2f..%2faccount"}) {
        const auto* const rule = table.find("GET", "h", path);
        ASSERT_TRUE(rule) << path;
        EXPECT_EQ(rule->name, RuleTable::kTwoReadings) << path;
        EXPECT_TRUE(rule->bypass);
        EXPECT_EQ(rule->min_age, std::chrono::hours(1));
    }
    for (const auto* path :
         {"/static/a%2Fb", "/static/..%2Fstatic/b", "/static/a;b", "/static/a..%2F"})
        EXPECT_EQ(table.find("GET", "h", path)->name, "files") << path;
    EXPECT_FALSE(table.find("GET", "h", "/other/..%2Fmore"));
}

std::string query(const QueryRule& rule, std::string_view target) {
    const auto once = query_for_key(rule, target);
    const auto path = std::string(target.substr(0, target.find('?')));
    EXPECT_EQ(query_for_key(rule, path + once), once) << "a peer applies the rule again";
    return once;
}

TEST(QueryForKey, KeepsDropsOrIgnoresParameters) {
    const QueryRule keep{QueryRule::Mode::keep, {Glob("v"), Glob("id*")}, false};
    EXPECT_EQ(query(keep, "/a?x=1&v=2&idx=3&V=4"), "?v=2&idx=3");
    EXPECT_EQ(query(keep, "/a?x=1"), "");
    const QueryRule drop{QueryRule::Mode::drop, {Glob("X-Amz-*"), Glob("sig")}, false};
    EXPECT_EQ(query(drop, "/a?X-Amz-Date=1&v=2&sig"), "?v=2");
    EXPECT_EQ(query(drop, "/a?v=2&&w"), "?v=2&&w");
    EXPECT_EQ(query(drop, "/a"), "");
    EXPECT_EQ(query({QueryRule::Mode::ignore, {}, false}, "/a?b"), "");
}

TEST(QueryForKey, NoSpellingOfAParameterEvadesARule) {
    QueryRule keep, drop;
    keep.mode = QueryRule::Mode::keep;
    keep.names = {Glob("v")};
    drop.mode = QueryRule::Mode::drop;
    drop.names = {Glob("utm_*")};
    EXPECT_EQ(query_for_key(keep, "/x?v=1&%76=2"), "?v=1&%76=2");
    EXPECT_EQ(query_for_key(keep, "/x?v=1&v[]=2&+v=3&w=4"), "?v=1&v[]=2&+v=3");
    EXPECT_EQ(query_for_key(keep, "/x?v=1&a=1;v=2"), "?v=1&a=1;v=2");
    EXPECT_EQ(query_for_key(drop, "/x?v=2&utm_x=1;v=3"), "?v=2&utm_x=1;v=3");
    EXPECT_EQ(query_for_key(drop, "/x?v=2&%75tm_x=1"), "?v=2");
}

TEST(QueryForKey, SortsByNameAndKeepsTheOrderOfEqualNames) {
    const QueryRule sorted{QueryRule::Mode::whole, {}, true};
    EXPECT_EQ(query(sorted, "/a?b=2&a=9&b=1&a=3"), "?a=9&a=3&b=2&b=1");
    EXPECT_TRUE(sorted.changes_key());
    EXPECT_FALSE(QueryRule().changes_key());
}

TEST(CacheKeyWithARule, LeavesTheTargetForTheOriginAsReceived) {
    CacheKey key;
    ASSERT_EQ(key.assign_url("http://h/a?b=1&sig=2"), TargetError::none);
    key.replace_query("?b=1");
    EXPECT_EQ(key.uri(), "http://h/a?b=1");
    EXPECT_EQ(key.path(), "/a?b=1&sig=2");
    EXPECT_EQ(key.origin(), "http://h");
    const auto copy = key;
    EXPECT_EQ(copy.path(), "/a?b=1&sig=2");
    ASSERT_EQ(key.assign_url("http://h/c?d"), TargetError::none);
    EXPECT_EQ(key.path(), "/c?d") << "nothing stays of the request before";
    key.replace_query("?d");
    EXPECT_EQ(key.uri(), "http://h/c?d");
}

TEST(RuleTable, ItsHashCoversAllThatDecidesAboutKeys) {
    auto plain = rule("p", {Glob("h")});
    auto keys = rule("k", {Glob("g")});
    keys.query.mode = QueryRule::Mode::ignore;
    EXPECT_EQ(RuleTable({plain}).key_hash(), 0u);
    const auto hash = RuleTable({plain, keys}).key_hash();
    EXPECT_NE(hash, 0u);
    EXPECT_NE(RuleTable({keys, plain}).key_hash(), hash) << "an earlier rule shadows a later one";
    EXPECT_EQ(RuleTable({keys, plain}).key_hash(), RuleTable({keys}).key_hash());
    auto renamed = keys;
    renamed.name = "other";
    renamed.storing.at_least = 1h;
    EXPECT_EQ(RuleTable({plain, renamed}).key_hash(), hash) << "they change no key";
    auto narrower = keys;
    narrower.match.paths.emplace_back("/x");
    EXPECT_NE(RuleTable({plain, narrower}).key_hash(), hash);
    auto sorted = keys;
    sorted.query.sorted = true;
    EXPECT_NE(RuleTable({plain, sorted}).key_hash(), hash);
    auto by_field = plain;
    by_field.storing.key_fields = {"accept"};
    EXPECT_NE(RuleTable({by_field}).key_hash(), 0u);
    EXPECT_NE(RuleTable({by_field, keys}).key_hash(), hash);
}

TEST(RuleTable, ItsHashIsTheSameInEveryProcess) {  // links compare it: protocol/FORMAT.md
    auto keys = rule("k", {Glob("g")});
    keys.query.mode = QueryRule::Mode::ignore;
    EXPECT_EQ(RuleTable({keys}).key_hash(), 11463713548144545246u);
}

TEST(RuleMark, FollowsTheMeaningOfStoringAlone) {
    const auto mark = [](const Rule& rule) { return RuleTable({rule}).all().front().mark; };
    const auto none = rule("a", {});
    EXPECT_EQ(mark(none), 0u) << "such a rule judges as the settings of the cache do";
    auto lasting = none;
    lasting.storing.at_least = 1h;
    const auto before = mark(lasting);
    EXPECT_NE(before, 0u);
    lasting.name = "b";
    lasting.match.paths.emplace_back("/b");
    lasting.response_fields.remove.emplace_back("Server");
    EXPECT_EQ(mark(lasting), before);
    lasting.storing.at_least = 2h;
    EXPECT_NE(mark(lasting), before);
    auto keyed = none;
    keyed.query.mode = QueryRule::Mode::ignore;
    EXPECT_NE(mark(keyed), 0u) << "content under another key than its URL goes with the rule";
    auto sharing = none;
    sharing.storing.share_authorized = true;
    EXPECT_NE(mark(sharing), 0u);
}

}  // namespace rule_test
}  // namespace proxy
