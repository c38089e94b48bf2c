// `explain` and the access log name the same rule, out of thirty.
#include <unistd.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>

#include "proxy/config/parse_config.hpp"
#include "tests/cluster/fixture.hpp"

namespace proxy::test {
namespace rules_explain_test {

using nlohmann::json;

constexpr auto kThirtyRules = R"([
  {"name": "admin-post", "match": {"methods": ["POST"], "paths": ["/admin/*"]}},
  {"name": "admin", "match": {"paths": ["/admin/*"]}},
  {"name": "v6", "match": {"hosts": ["[2001:db8::1]"]}},
  {"name": "v6-net", "match": {"hosts": ["[2001:db8:*"]}},
  {"name": "exact", "match": {"hosts": ["files.example.org"], "paths": ["/exact"]}},
  {"name": "wheels", "match": {"hosts": ["files.example.org"], "paths": ["*.whl"]}},
  {"name": "escape", "match": {"hosts": ["files.example.org"], "paths": ["/a%2Fb/*"]}},
  {"name": "tilde", "match": {"paths": ["/~user/*"]}},
  {"name": "blobs", "match": {"hosts": ["files.example.org", "*.cdn.example.net"], "paths": ["/blobs/*"]}},
  {"name": "blobs-late", "match": {"hosts": ["files.example.org"], "paths": ["/blobs/deep/*"]}},
  {"name": "images", "match": {"hosts": ["img.*.example.net"], "paths": ["/*.png"]}},
  {"name": "cdn", "match": {"hosts": ["*.cdn.example.net"]}},
  {"name": "deep", "match": {"hosts": ["a.b.example.com"]}},
  {"name": "wild-b", "match": {"hosts": ["*.b.example.com"]}},
  {"name": "wild", "match": {"hosts": ["*.example.com"]}},
  {"name": "apex", "match": {"hosts": ["example.com"]}},
  {"name": "case", "match": {"hosts": ["UPPER.example.org"]}},
  {"name": "simple", "match": {"hosts": ["pypi.example.org"], "paths": ["/simple/*"]}},
  {"name": "simple-root", "match": {"hosts": ["pypi.example.org"], "paths": ["/simple"]}},
  {"name": "middle", "match": {"paths": ["/x/*/y/*"]}},
  {"name": "stars", "match": {"paths": ["/q*q*q"]}},
  {"name": "hidden", "match": {"paths": ["/.well-known/*"]}},
  {"name": "json", "match": {"paths": ["*.json"]}},
  {"name": "port", "match": {"hosts": ["ported.example.org"]}},
  {"name": "dotted", "match": {"hosts": ["dotted.example.org"]}},
  {"name": "root", "match": {"hosts": ["root.example.org"], "paths": ["/"]}},
  {"name": "long", "match": {"paths": ["/one/two/three/*"]}},
  {"name": "short", "match": {"paths": ["/one/*"]}},
  {"name": "get-only", "match": {"hosts": ["ge*.example.org"], "methods": ["GET"]}},
  {"name": "rest", "match": {"hosts": ["*.example.org"]}}])";

struct Expected {
    const char *url, *rule;  // the rule for a GET; empty: none
};
constexpr Expected kUrls[] = {
    {"http://files.example.org/exact", "exact"},
    {"http://files.example.org/exact?x=1", "exact"},
    {"http://files.example.org/Exact", "rest"},
    {"http://files.example.org/pkg/a.whl", "wheels"},
    {"http://files.example.org/a%2fb/c", "(two readings of the path)"},
    {"http://files.example.org/a/b/c", "rest"},
    {"http://other.test/%7Euser/home", "tilde"},
    {"http://files.example.org/x/../blobs/deep/1", "blobs"},
    {"http://eu.cdn.example.net//blobs///1", "blobs"},
    {"http://img.cdn.example.net/a.png", "images"},
    {"http://img.cdn.example.net/a.gif", "cdn"},
    {"http://a.b.example.com/", "deep"},
    {"http://c.b.example.com/", "wild-b"},
    {"http://b.example.com/", "wild"},
    {"http://example.com/", "apex"},
    {"http://Upper.Example.ORG/", "case"},
    {"http://pypi.example.org/simple/../simple", "simple-root"},
    {"http://pypi.example.org/simple/%2e/x", "simple"},
    {"http://pypi.example.org/simple/%2e%2e/x", "rest"},
    {"http://h.test/x/1/2/y/3", "middle"},
    {"http://h.test/qaqq", "stars"},
    {"http://h.test/a/../.well-known/z", "hidden"},
    {"http://h.test/a/b.json?x=.whl", "json"},
    {"http://ported.example.org:8080/", "port"},
    {"http://dotted.example.org./", "dotted"},
    {"http://root.example.org", "root"},
    {"http://h.test/one/two/three/4", "long"},
    {"http://h.test/one/two/three", "short"},
    {"http://get.example.org/", "get-only"},
    {"http://[2001:DB8:0::1]/", "v6"},
    {"http://[2001:db8::2]/", "v6-net"},
    {"http://[2001:db8::2]/admin/x", "admin"},
    {"http://nobody.test/", ""},
};

std::string escaped(std::string_view url) {
    constexpr std::string_view kDigits = "0123456789ABCDEF";
    std::string out;
    for (const unsigned char c : url) {
        out.push_back('%');
        out.push_back(kDigits[c >> 4]);
        out.push_back(kDigits[c & 15]);
    }
    return out;
}

class ExplainedRules : public NodesTest {
protected:
    ~ExplainedRules() override { std::filesystem::remove(file_); }
    std::string rule_in(const json& page) const {
        const auto rule = page.find("rule");
        return rule == page.end() || rule->is_null() ? "" : rule->get<std::string>();
    }
    const std::filesystem::path file_ = std::filesystem::path(testing::TempDir()) /
                                        ("hearsay_rules_" + std::to_string(::getpid()) + ".log");
};

TEST_F(ExplainedRules, AreThoseThatApply) {
    auto read = parse_config(
        std::string(
            R"({"node": "a", "listen": "1.2.3.4:5", "forward": {"enabled": true}, "rules": )") +
        kThirtyRules + "}");
    ASSERT_TRUE(read.config) << describe(read.errors);
    ASSERT_EQ(read.config->rules.all().size(), 30u);
    auto settings = config("a");
    settings.rules = read.config->rules;
    settings.log.access = file_;
    settings.log.format = AccessFormat::json;
    std::filesystem::remove(file_);
    start(settings);
    for (const auto& [url, rule] : kUrls) {
        const auto page = json::parse(admin("a", "/api/v1/explain?url=" + escaped(url)).body);
        EXPECT_EQ(rule_in(page), rule) << url;
        EXPECT_EQ(client().ask("GET", url).status, 200u) << url;
    }
    EXPECT_EQ(client().ask("POST", "http://h.test/admin/x", "", "x").status, 200u);
    kill("a");
    std::ifstream in(file_);
    std::string line;
    for (const auto& [url, rule] : kUrls) {
        ASSERT_TRUE(std::getline(in, line)) << url;
        EXPECT_EQ(rule_in(json::parse(line)), rule) << line;
    }
    ASSERT_TRUE(std::getline(in, line));
    EXPECT_EQ(rule_in(json::parse(line)), "admin-post");
}

}  // namespace rules_explain_test
}  // namespace proxy::test
