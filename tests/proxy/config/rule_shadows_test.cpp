#include "proxy/config/rule_shadows.hpp"

#include <gmock/gmock.h>

#include <string>

#include "proxy/config/parse_config.hpp"

namespace proxy {
namespace rule_shadows_test {

using testing::ElementsAre;
using testing::IsEmpty;

/// Reads rules a, b, c and so on from the bodies of their objects.
std::vector<RuleShadow> shadows(const std::vector<std::string>& bodies) {
    std::string text =
        R"({"node": "a", "listen": "127.0.0.1:1", "forward": {"enabled": true}, "rules": [)";
    char name = 'a';
    for (const auto& body : bodies)
        text.append(name == 'a' ? "" : ",")
            .append(R"({"name": ")")
            .append(1, name++)
            .append("\", ")
            .append(body)
            .append("}");
    const auto read = parse_config(text + "]}", [](const std::string&) { return std::nullopt; });
    EXPECT_EQ(describe(read.errors), "") << text;
    if (!read.config) return {};
    return shadowed_rules(read.config->rules.all());
}

std::string match(const std::string& body) {
    return R"("fresh_for": "1m", "match": {)" + body + "}";
}
std::string paths(const std::string& list) {
    return match("\"paths\": [" + list + "]");
}

using Shadows = std::vector<RuleShadow>;
const Shadows kNone;
const Shadows kSecond{{1, 0, false}};

TEST(RuleShadows, ComparesPaths) {
    struct Case {
        const char *first, *second;
        bool shadowed;
    };
    for (const auto& [first, second, shadowed] : std::initializer_list<Case>{
             {R"("*")", R"("/a")", true},
             {R"("*")", R"("*.deb")", true},
             {R"("/a/*")", R"("/a/*")", true},
             {R"("/a/*")", R"("/a/b/*", "/a/*.png")", true},
             {R"("/a*")", R"("/a/*/b")", true},
             {R"("*/b/*")", R"("/a/b/c/*")", true},
             {R"("/a/*", "/b/*")", R"("/b/x", "/a/x")", true},
             {R"("*/b/*", "/b/*")", R"("*/b/*")", true},
             {R"("/a/*")", R"("/a")", false},
             {R"("/a/*")", R"("/a*")", false},
             {R"("/a/*")", R"("/a/*", "/b")", false},
             {R"("/a/*.png")", R"("/a/*")", false},
             {R"("*.png")", R"("*.PNG")", false},
             {R"("*a*b*")", R"("*b*a*")", false},
             {R"("/*/resolve/*")", R"("*/resolve/*")", false},  // `/resolve/x`
         })
        EXPECT_EQ(shadows({paths(first), paths(second)}), shadowed ? kSecond : kNone)
            << first << " before " << second;
}

TEST(RuleShadows, KnowsThatPathsBeginWithASlashExceptOne) {
    const auto gets = R"("methods": ["GET"], "paths": )";
    EXPECT_EQ(shadows({paths(R"("/*")"), match(std::string(gets) + R"(["*"])")}), kSecond);
    EXPECT_EQ(shadows({paths(R"("/*.deb")"), match(std::string(gets) + R"(["*.deb"])")}), kSecond);
    EXPECT_EQ(shadows({paths(R"("/*", "*")"), match(R"("methods": ["OPTIONS"])")}), kSecond);
    EXPECT_THAT(shadows({paths(R"("/*")"), match(R"("methods": ["OPTIONS"])")}), IsEmpty());
    EXPECT_THAT(shadows({paths(R"("/*")"), R"("response_fields": {"remove": ["X"]})"}), IsEmpty())
        << "OPTIONS *";
}

TEST(RuleShadows, ComparesHosts) {
    const auto hosts = [](const char* list) { return match(std::string("\"hosts\": ") + list); };
    EXPECT_EQ(shadows({hosts(R"(["*.x.test"])"), hosts(R"(["a.X.test", "*.b.x.test"])")}), kSecond);
    EXPECT_EQ(shadows({hosts(R"(["*"])"), match("")}), kSecond);
    EXPECT_EQ(shadows({match(""), hosts(R"(["a.test"])")}), kSecond);
    EXPECT_THAT(shadows({hosts(R"(["*.x.test"])"), hosts(R"(["x.test"])")}), IsEmpty());
    EXPECT_THAT(shadows({hosts(R"(["a.test"])"), match("")}), IsEmpty());
    EXPECT_THAT(shadows({hosts(R"(["a.test"])"), paths(R"("/a")")}), IsEmpty());
}

TEST(RuleShadows, ComparesMethods) {
    const auto methods = [](const char* list) {
        return R"("response_fields": {"remove": ["X"]}, "match": {"methods": )" +
               std::string(list) + "}";
    };
    EXPECT_EQ(shadows({methods(R"(["GET", "POST"])"), methods(R"(["POST"])")}), kSecond);
    EXPECT_EQ(shadows({methods(R"(["GET"])"), methods(R"(["HEAD"])")}), kSecond);
    EXPECT_EQ(shadows({R"("bypass": true)", methods(R"(["POST"])")}), kSecond);
    EXPECT_THAT(shadows({methods(R"(["GET"])"), methods(R"(["GET", "POST"])")}), IsEmpty());
    EXPECT_THAT(shadows({methods(R"(["GET"])"), R"("bypass": true)"}), IsEmpty());
}

TEST(RuleShadows, KnowsThatOnlyResponsesToGetAreStored) {
    const std::string npm = match(R"("methods": ["GET"])");
    const Shadows gets{{1, 0, true}};
    EXPECT_EQ(shadows({npm, paths(R"("/simple/*")")}), gets);
    EXPECT_EQ(shadows({npm, R"("query": "ignore")"}), gets);
    EXPECT_EQ(shadows({npm, match(R"("methods": ["GET", "POST"])")}), gets);
    EXPECT_THAT(shadows({npm, match(R"("methods": ["POST"])")}), IsEmpty());
    for (const auto* other : {R"("min_age": "1d")", R"("bypass": true)",
                              R"("request_fields": {"remove": ["X"]})", R"("match": {})"})
        EXPECT_THAT(shadows({npm, other}), IsEmpty()) << other;
}

TEST(RuleShadows, LeavesRulesThatSeveralShareOutAlone) {
    EXPECT_THAT(shadows({match(R"("hosts": ["a.test"], "paths": ["/a/*"])"),
                         match(R"("hosts": ["b.test"], "paths": ["/b/*"])"),
                         match(R"("hosts": ["a.test", "b.test"], "paths": ["/a/x", "/b/x"])")}),
                IsEmpty());
}

TEST(RuleShadows, NamesEveryRuleThatNothingReaches) {
    EXPECT_EQ(shadows({match(""), paths(R"("/a")"), paths(R"("/b")")}),
              Shadows({{1, 0, false}, {2, 0, false}}));
}

}  // namespace rule_shadows_test
}  // namespace proxy
