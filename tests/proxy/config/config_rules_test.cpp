#include "proxy/config/config_rules.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "proxy/config/parse_config.hpp"

namespace proxy {
namespace config_rules_test {

using namespace std::chrono_literals;
using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

ConfigResult with_rules(const std::string& rules) {
    return parse_config(
        R"({"node": "a", "listen": "10.0.0.1:3128", "forward": {"enabled": true}, "rules": )" +
        rules + "}");
}
Rule rule(const std::string& members) {
    auto read = with_rules(R"([{"name": "r", )" + members + "}]");
    EXPECT_TRUE(read.config) << describe(read.errors);
    return read.config ? read.config->rules.all().at(0) : Rule();
}
std::vector<std::string> errors(const std::string& rules) {
    std::vector<std::string> texts;
    for (const auto& error : with_rules(rules).errors)
        texts.push_back(error.path + ": " + error.message);
    return texts;
}
std::vector<std::string> errors_of(const std::string& members) {
    return errors(R"([{"name": "r", )" + members + "}]");
}

constexpr auto kWhole = R"([{
    "name": "wheels",
    "match": {"hosts": ["files.test", "*.files.test"], "paths": ["*.whl"], "methods": ["GET"]},
    "fresh_for": {"200": "1d", "404": "30s"},
    "at_least": "1h", "at_most": "30d", "stale_while_revalidate": "1m", "stale_if_error": "7d",
    "stale_on": [503, 429], "authorize": "origin", "min_age": "7d",
    "immutable": true, "share_authorized": true,
    "ignore": ["no-store", "private", "no-cache", "set-cookie", "vary"],
    "key_fields": ["X-Api-Key", "Accept", "accept"],
    "bypass": true, "fetch_for_head": true,
    "query": {"drop": ["X-Amz-*"], "sort": true},
    "request_fields": {"set": {"Accept-Encoding": "gzip"}, "add": {"X-A": "1"}, "remove": ["Cookie"]},
    "response_fields": {"set": {"X-B": "2"}, "remove": ["Server"]},
    "tags": ["wheels"]}])";

TEST(ConfigRules, ReadAllMembers) {
    const auto read = with_rules(kWhole);
    ASSERT_TRUE(read.config) << describe(read.errors);
    const auto& rule = read.config->rules.all().at(0);
    EXPECT_EQ(rule.name, "wheels");
    EXPECT_EQ(rule.match.hosts.at(1).text(), "*.files.test");
    EXPECT_EQ(rule.match.paths.at(0).text(), "*.whl");
    EXPECT_THAT(rule.match.methods, ElementsAre("GET"));
    EXPECT_THAT(rule.storing.fresh_for, ElementsAre(Pair(200u, 24h), Pair(404u, 30s)));
    EXPECT_EQ(rule.storing.at_least, 1h);
    EXPECT_EQ(rule.storing.at_most, 720h);
    EXPECT_EQ(rule.storing.stale_while_revalidate, 1min);
    EXPECT_EQ(rule.storing.stale_if_error, 168h);
    EXPECT_THAT(rule.storing.stale_on, ElementsAre(429u, 503u));
    EXPECT_TRUE(rule.storing.authorize);
    EXPECT_EQ(rule.min_age, 168h);
    EXPECT_TRUE(rule.storing.immutable && rule.storing.share_authorized && rule.bypass);
    EXPECT_TRUE(rule.fetch_for_head);
    EXPECT_EQ(rule.storing.ignored, (IgnoredDirectives{true, true, true, true, true}));
    EXPECT_THAT(rule.storing.key_fields, ElementsAre("accept", "x-api-key"));
    EXPECT_EQ(rule.query.mode, QueryRule::Mode::drop);
    EXPECT_EQ(rule.query.names.at(0).text(), "X-Amz-*");
    EXPECT_TRUE(rule.query.sorted);
    EXPECT_THAT(rule.request_fields.set, ElementsAre(Pair("Accept-Encoding", "gzip")));
    EXPECT_THAT(rule.request_fields.add, ElementsAre(Pair("X-A", "1")));
    EXPECT_THAT(rule.request_fields.remove, ElementsAre("Cookie"));
    EXPECT_THAT(rule.response_fields.remove, ElementsAre("Server"));
    EXPECT_THAT(rule.tags, ElementsAre("wheels"));
    EXPECT_NE(rule.mark, 0u);
}

TEST(ConfigRules, AreShownAsTheyCanBeReadAgain) {
    const auto read = with_rules(kWhole);
    ASSERT_TRUE(read.config);
    const auto shown = rules_json(read.config->rules).dump();
    const auto again = with_rules(shown);
    ASSERT_TRUE(again.config) << describe(again.errors);
    EXPECT_EQ(rules_json(again.config->rules).dump(), shown);
    const auto written = json::parse(kWhole).at(0), all = json::parse(shown).at(0);
    for (const auto& [name, value] : written.items()) EXPECT_TRUE(all.contains(name)) << name;
    EXPECT_EQ(rules_json(RuleTable({rule("\"query\": \"ignore\"")})).at(0).at("query"), "ignore");
}

TEST(ConfigRules, TakeFieldsOfRedirectsThatSpeakOfTheContent) {
    const auto read =
        rule(R"("follow_redirects": true, "redirect_fields": ["X-Size", "X-Commit", "x-size"])");
    EXPECT_THAT(read.storing.redirect_fields, ElementsAre("x-commit", "x-size"));
    EXPECT_EQ(rules_json(RuleTable({read})).at(0).at("redirect_fields").size(), 2u);
    EXPECT_EQ(errors_of(R"("redirect_fields": ["X-Size"])").size(), 1u) << "without following";
    for (const auto* name : {"Location", "Set-Cookie", "etag", "Content-Type", "Content-Length",
                             "Cache-Control", "Vary", "Age", "a*", "Hearsay-First-Seen"})
        EXPECT_EQ(errors_of(R"("follow_redirects": true, "redirect_fields": [")" +
                            std::string(name) + "\"]")
                      .size(),
                  1u)
            << name;
}

TEST(ConfigRules, OneLifetimeIsForContentAndRedirects) {
    const auto lifetimes = rule(R"("fresh_for": "1h")").storing;
    EXPECT_EQ(lifetimes.lifetime_for(200), 1h);
    EXPECT_EQ(lifetimes.lifetime_for(302), 1h);
    EXPECT_EQ(lifetimes.lifetime_for(404), std::nullopt);
    EXPECT_EQ(lifetimes.lifetime_for(500), std::nullopt);
    EXPECT_EQ(rule(R"("fresh_for": {"503": 0})").storing.lifetime_for(503), 0s);
}

TEST(ConfigRules, NameEachFaultAndItsPlace) {
    EXPECT_THAT(errors(R"([{}])"), ElementsAre("$.rules[0].name: missing"));
    EXPECT_THAT(errors(R"([{"name": "a"}, {"name": "a"}])"),
                ElementsAre(HasSubstr("$.rules[1].name: is the name of an earlier rule")));
    EXPECT_THAT(errors(R"([{"name": "two words"}])"), ElementsAre(HasSubstr("$.rules[0].name")));
    EXPECT_THAT(errors_of(R"("match": {"hosts": ["http://a"]})"),
                ElementsAre(HasSubstr("$.rules[0].match.hosts[0]: must be a host")));
    EXPECT_THAT(errors_of(R"("match": {"paths": ["a", "/a?b"]})"),
                ElementsAre(HasSubstr("must begin with /"), HasSubstr("without a query")));
    EXPECT_THAT(
        errors_of(R"("match": {"paths": ["/%41/*", "//x", "/a%2fb"]})"),
        ElementsAre(HasSubstr("write /A/*"), HasSubstr("write /x"), HasSubstr("write /a%2Fb")));
    EXPECT_THAT(errors_of(R"("fresh_for": {"206": "1h"})"),
                ElementsAre(HasSubstr("$.rules[0].fresh_for.206: is no status")));
    EXPECT_THAT(errors_of(R"("fresh_for": {"2xx": "1h"})"), ElementsAre(HasSubstr("is no status")));
    EXPECT_THAT(errors_of(R"("at_least": "2h", "at_most": "1h")"),
                ElementsAre(HasSubstr("$.rules[0].at_most")));
    EXPECT_THAT(errors_of(R"("ignore": ["no-sotre"])"),
                ElementsAre(HasSubstr("$.rules[0].ignore[0]: must be no-store")));
    EXPECT_THAT(errors_of(R"("key_fields": ["Authorization", "Range", "a b", "*"])"),
                ElementsAre(HasSubstr("$.rules[0].key_fields[0]: cannot be in a key"),
                            HasSubstr("$.rules[0].key_fields[1]: must be a field that"),
                            HasSubstr("$.rules[0].key_fields[2]: is no name of a field"),
                            HasSubstr("$.rules[0].key_fields[3]: must be the whole name")));
    EXPECT_THAT(errors_of(R"("request_fields": {"remove": ["X-Amz-*"], "set": {"X-*": "1"}})"),
                UnorderedElementsAre(HasSubstr("set.X-*: must be the whole name"),
                                     HasSubstr("remove[0]: must be the whole name")));
    std::string names = R"("x-0")";
    for (int i = 1; i <= 16; ++i) names.append(R"(, "x-)").append(std::to_string(i)).append("\"");
    EXPECT_THAT(errors_of(R"("key_fields": [)" + names + "]"),
                ElementsAre(HasSubstr("$.rules[0].key_fields: must have at most 16 elements")));
    EXPECT_THAT(errors_of(R"("query": {"keep": ["a"], "drop": ["b"]})"),
                ElementsAre(HasSubstr("either keep or drop")));
    EXPECT_THAT(errors_of(R"("stale_on": [429])"), ElementsAre(HasSubstr("needs stale_if_error")));
    EXPECT_THAT(errors_of(R"("stale_on": [200], "stale_if_error": "1h")"),
                ElementsAre(HasSubstr("a status from 400 to 599")));
    EXPECT_THAT(errors_of(R"("authorize": "me")"), ElementsAre(HasSubstr("must be \"origin\"")));
    EXPECT_THAT(errors_of(R"("query": "drop")"), ElementsAre(HasSubstr("must be \"ignore\"")));
    EXPECT_THAT(errors_of(R"("fresh": "1h")"), ElementsAre(HasSubstr("fresh_for")));
}

TEST(ConfigRules, WarnOfAnEmptyListThatMatchesAllAndOfAMethodInSmallLetters) {
    const auto read = with_rules(R"([{"name": "r", "match": {"hosts": [], "methods": ["get"]}}])");
    ASSERT_TRUE(read.config) << describe(read.errors);
    std::vector<std::string> paths;
    for (const auto& warning : read.warnings) paths.push_back(warning.path);
    EXPECT_THAT(paths, IsSupersetOf({"$.rules[0].match.hosts", "$.rules[0].match.methods[0]"}));
}

TEST(ConfigRules, ChangeNoFieldThatTheNodeWrites) {
    for (const auto* name : {"Content-Length", "transfer-encoding", "Host", "Via", "Range",
                             "If-None-Match", "Hearsay-Peer"}) {
        const std::string quoted = std::string("\"") + name + "\"";
        EXPECT_THAT(errors_of(R"("response_fields": {"set": {)" + quoted + R"(: "1"}})"),
                    ElementsAre(HasSubstr("does not write or read")))
            << name;
        EXPECT_THAT(errors_of(R"("request_fields": {"remove": [)" + quoted + "]}"),
                    ElementsAre(HasSubstr("does not write or read")))
            << name;
    }
    EXPECT_THAT(errors_of(R"("request_fields": {"add": {"X": "a\r\nB: c"}})"),
                ElementsAre(HasSubstr("without control characters")));
    EXPECT_THAT(errors_of(R"("request_fields": {"set": {"X Y": "a"}})"),
                ElementsAre(HasSubstr("is no name of a field")));
}

}  // namespace config_rules_test
}  // namespace proxy
