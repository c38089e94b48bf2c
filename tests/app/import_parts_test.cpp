// The parts of `hearsay import`: lexers, networks, globs, spans.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/import/draft.hpp"
#include "app/import/lexers.hpp"
#include "app/import/nginx_scope.hpp"
#include "app/import/prefix_set.hpp"
#include "app/import/regex_globs.hpp"
#include "app/import/source.hpp"

namespace app {
namespace import_parts_test {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> words_of(const Directive& directive) {
    std::vector<std::string> out{directive.name};
    for (const auto& word : directive.words) out.push_back(word.text);
    return out;
}

TEST(SquidLexer, ReadsLinesCommentsQuotesAndContinuations) {
    const auto read = lex_squid(
        "# first\nacl a src 10.0.0.1 # why\n\n acl b dstdomain \"/etc/a b\" \\\n  .example.org\r\n",
        "squid.conf");
    ASSERT_EQ(read.directives.size(), 2u);
    EXPECT_THAT(words_of(read.directives[0]), ElementsAre("acl", "a", "src", "10.0.0.1"));
    EXPECT_EQ(read.directives[0].place, "squid.conf:2");
    EXPECT_THAT(words_of(read.directives[1]),
                ElementsAre("acl", "b", "dstdomain", "/etc/a b", ".example.org"));
    EXPECT_TRUE(read.directives[1].words[2].quoted);
    EXPECT_EQ(read.directives[1].place, "squid.conf:4");
}

TEST(SquidLexer, KeepsASignWithinAWord) {
    const auto read = lex_squid("refresh_pattern -i \\.gif#x 0 0% 0", "f");
    ASSERT_EQ(read.directives.size(), 1u);
    EXPECT_EQ(read.directives[0].word(1), "\\.gif#x");
}

TEST(NginxLexer, ReadsBlocksQuotesAndVariables) {
    const auto read = lex_nginx(
        "http { # all\n server { listen 80; location ~ \"\\.(a|b){1}$\" { set $x ${y}z; } } }",
        "f");
    ASSERT_EQ(read.error, "");
    ASSERT_EQ(read.directives.size(), 1u);
    const auto& server = read.directives[0].block.at(0);
    EXPECT_EQ(server.place, "f:2");
    EXPECT_THAT(words_of(server.block.at(0)), ElementsAre("listen", "80"));
    EXPECT_THAT(words_of(server.block.at(1)), ElementsAre("location", "~", "\\.(a|b){1}$"));
    EXPECT_THAT(words_of(server.block.at(1).block.at(0)), ElementsAre("set", "$x", "${y}z"));
}

TEST(NginxLexer, SkipsCodeAndKeepsWhatFollows) {
    const auto read = lex_nginx("a { content_by_lua_block { if x then { } end } } b 1;", "f");
    ASSERT_EQ(read.error, "");
    EXPECT_EQ(read.directives.size(), 2u);
}

TEST(NginxLexer, NamesThePlaceOfAFault) {
    const std::pair<const char*, const char*> kFaults[] = {
        {"a {\n", "no closing brace"},     {"a 1\n", "no semicolon"},
        {"a;\n}", "f:2: a closing brace"}, {"a \"b", "never closed"},
        {"{ a; }", "without a name"},      {";", "without a directive"},
        {"a { b }", "no semicolon"}};
    for (const auto& [text, fault] : kFaults)
        EXPECT_THAT(lex_nginx(text, "f").error, HasSubstr(fault)) << text;
    std::string deep;
    for (int i = 0; i < 100; ++i) deep += "a {";
    EXPECT_THAT(lex_nginx(deep, "f").error, HasSubstr("too many blocks"));
}

std::vector<std::string> networks(std::string_view text) {
    std::vector<std::string> out;
    const auto read = parse_networks(text);
    if (!read) return {"none"};
    for (const auto& each : *read) out.push_back(text_of(each));
    return out;
}

TEST(ImportNetworks, ReadsPrefixesMasksAndRanges) {
    EXPECT_THAT(networks("10.1.2.3"), ElementsAre("10.1.2.3"));
    EXPECT_THAT(networks("172.7.0.1/16"), ElementsAre("172.7.0.0/16"));
    EXPECT_THAT(networks("192.168.1.0/255.255.255.0"), ElementsAre("192.168.1.0/24"));
    EXPECT_THAT(networks("10.0.0.1-10.0.0.6"),
                ElementsAre("10.0.0.1", "10.0.0.2/31", "10.0.0.4/31", "10.0.0.6"));
    EXPECT_THAT(networks("0.0.0.0-255.255.255.255"), ElementsAre("0.0.0.0/0"));
    EXPECT_THAT(networks("fe80::/10"), ElementsAre("fe80::/10"));
    EXPECT_THAT(networks("all"), ElementsAre("0.0.0.0/0", "::/0"));
    for (const auto* text : {"host.example", "10.0.0.0/33", "10.0.0.0/255.0.255.0",
                             "10.0.0.9-10.0.0.1", "", "::/129", "10.0.0.1-::1"})
        EXPECT_THAT(networks(text), ElementsAre("none")) << text;
}

TEST(ImportNetworks, IntersectsPrefixes) {
    const auto a = *parse_networks("10.0.0.0/8"), b = *parse_networks("10.1.0.0/16");
    EXPECT_EQ(intersection(a, b), b);
    EXPECT_EQ(intersection(b, a), b);
    EXPECT_TRUE(intersection(a, *parse_networks("11.0.0.0/8")).empty());
    EXPECT_TRUE(covers_all(all_networks(), a));
    EXPECT_TRUE(is_private(b.front()));
    EXPECT_FALSE(is_private(parse_networks("10.0.0.0/7")->front()));
}

std::vector<std::string> globs(std::string_view regex) {
    const auto read = globs_of_regex(regex);
    return read ? read->globs : std::vector<std::string>{"none"};
}

TEST(RegexGlobs, TranslateWhatGlobsCanSay) {
    EXPECT_THAT(globs("\\.(deb|rpm)$"), ElementsAre("*.deb", "*.rpm"));
    EXPECT_THAT(globs("^http://a\\.example/"), ElementsAre("http://a.example/*"));
    EXPECT_THAT(globs("jpe?g"), ElementsAre("*jpeg*", "*jpg*"));
    EXPECT_THAT(globs("a.*b"), ElementsAre("*a*b*"));
    EXPECT_THAT(globs("x[ab]$"), ElementsAre("*xa", "*xb"));
    EXPECT_THAT(globs(""), ElementsAre("*"));
    EXPECT_TRUE(globs_of_regex("a.b")->narrower);
    EXPECT_TRUE(globs_of_regex("a.+b")->wider);
    EXPECT_FALSE(globs_of_regex("a\\.b$")->narrower);
    for (const auto* regex : {"[0-9]+", "(a)*", "\\d", "a{2}", "(a", "a)", "(?=a)", "a^b", "[^a]",
                              "\\*", "a*", "*", "a\\"})
        EXPECT_THAT(globs(regex), ElementsAre("none")) << regex;
}

TEST(RegexGlobs, EndWithTooManyAlternatives) {
    EXPECT_THAT(globs("(a|b|c|d|e|f|g|h|i)(a|b|c|d|e|f|g|h|i)"), ElementsAre("none"));
}

TEST(RegexGlobs, AreTakenApartIntoHostAndPath) {
    const auto parts = [](std::string_view glob) {
        const auto read = split_url_glob(glob);
        return read ? read->host + " " + read->path : "none";
    };
    EXPECT_EQ(parts("*.deb"), " *.deb");
    EXPECT_EQ(parts("*/cgi-bin/*"), " */cgi-bin/*");
    EXPECT_EQ(parts("http://A.example/x*"), "a.example /x*");
    EXPECT_EQ(parts("http*://*.example.org/*"), "*.example.org ");
    EXPECT_EQ(parts("*.example.org*"), "*.example.org ");
    EXPECT_EQ(parts("*example.org/*.cab*"), "*example.org /*.cab*");
    EXPECT_EQ(parts("*.gif*"), " *.gif*");
    EXPECT_EQ(parts("*?*"), "none");
    EXPECT_EQ(parts("ftp://*"), "none");
    EXPECT_EQ(parts("*/a//x"), " */a//x");
    EXPECT_EQ(parts("http://a/x//y"), "none") << "no normalised path has two slashes";
}

TEST(ImportUnits, AreThoseOfSquidAndNginx) {
    EXPECT_EQ(import_size("256", "MB"), 256u << 20);
    EXPECT_EQ(import_size("10m", ""), 10u << 20);
    EXPECT_EQ(import_size("4096", ""), 4096u);
    EXPECT_EQ(import_size("4", "bytes"), 4u);
    EXPECT_EQ(import_size("x", ""), std::nullopt);
    EXPECT_EQ(import_size("1", "parsec"), std::nullopt);
    EXPECT_EQ(import_size("99999999999", "GB"), std::nullopt);
    EXPECT_EQ(import_span("5 minutes"), 300'000u);
    EXPECT_EQ(import_span("1h30m"), 5'400'000u);
    EXPECT_EQ(import_span("10"), 10'000u);
    EXPECT_EQ(import_span("1 decade 1 decade"), 3650ull * 86'400'000) << "ten years are the most";
    for (const auto* none : {"soon", "1.2.3", "5 0 s"})
        EXPECT_EQ(import_span(none), std::nullopt) << none;
    EXPECT_EQ(import_span(""), std::nullopt);
    EXPECT_EQ(import_span_text(5'400'000), "90m");
    EXPECT_EQ(import_span_text(0), "0ms");
}

TEST(ImportFormat, IsGuessedFromTheContent) {
    EXPECT_EQ(guess_format("http_port 3128\nhttp_access deny all\n"), SourceFormat::squid);
    EXPECT_EQ(guess_format("events { }\nhttp { }\n"), SourceFormat::nginx);
    EXPECT_EQ(guess_format("proxy_cache_path /c keys_zone=a:1m;\n"), SourceFormat::nginx);
    EXPECT_EQ(guess_format("include conf.d/*;\n"), SourceFormat::nginx);
    EXPECT_EQ(guess_format("include /etc/squid/conf.d/*.conf\n"), SourceFormat::squid);
    for (const auto* other : {"", "# http_port 3128\n", "{\"node\": \"a\", \"http_port\": 1}\n",
                              "int main() { return 0; }\n", "[Unit]\nDescription=x\n"})
        EXPECT_EQ(guess_format(other), std::nullopt) << other;
}

/// Files in memory.
SourceFiles files(std::map<std::string, std::string> all) {
    SourceFiles out;
    out.read = [all](const std::string& path, std::size_t most) -> std::optional<std::string> {
        const auto found = all.find(path);
        if (found == all.end() || found->second.size() > most) return std::nullopt;
        return found->second;
    };
    out.find = [all](const std::string& pattern) {
        std::vector<std::string> found;
        for (const auto& [path, text] : all)
            if (path == pattern ||
                (pattern.ends_with('*') && path.starts_with(pattern.substr(0, pattern.size() - 1))))
                found.push_back(path);
        return found;
    };
    return out;
}

Lexed source(std::map<std::string, std::string> all) {
    std::optional<SourceFormat> format;
    return read_source("/x/main.conf", format, files(std::move(all)));
}

TEST(ImportSource, FollowsWhatAFileIncludes) {
    const auto read = source({{"/x/main.conf", "a 1\ninclude /etc/squid/conf.d/*\nd 1\n"},
                              {"/x/conf.d/1.conf", "b 1\n"},
                              {"/x/conf.d/2.conf", "c 1\n"}});
    ASSERT_EQ(read.error, "");
    ASSERT_EQ(read.directives.size(), 4u);
    EXPECT_EQ(read.directives[1].place, "/x/conf.d/1.conf:1");
    EXPECT_EQ(read.directives[3].name, "d");
}

TEST(ImportSource, NamesTheLineOfAFileThatIsMissing) {
    EXPECT_THAT(source({{"/x/main.conf", "a 1\ninclude gone.conf\n"}}).error,
                HasSubstr("main.conf:2: cannot find gone.conf"));
    EXPECT_THAT(source({}).error, HasSubstr("cannot be read"));
    EXPECT_EQ(source({{"/x/main.conf", "include conf.d/*\n"}}).error, "")
        << "a pattern may be idle";
}

TEST(ImportSource, EndsACircle) {
    EXPECT_THAT(source({{"/x/main.conf", "include main.conf\n"}}).error, HasSubstr("inside each"));
    EXPECT_THAT(source({{"/x/main.conf", "include a\ninclude a\n"},
                        {"/x/a", std::string(3 << 20, '#') + "\n"}})
                    .error,
                HasSubstr("exceed"));
}

TEST(ImportDraft, ProtectsDollarsFromTheSubstitutionOfVariables) {
    ImportDraft draft;
    draft.set("log.access", "/var/${host}/$x/${y}");
    EXPECT_EQ(draft.finish()["log"]["access"], "/var/$${host}/$x/$${y}");
}

TEST(ImportDraft, PutsChangesOfAllRequestsIntoEveryRule) {
    ImportDraft draft;
    draft.add_rule("a b", {{"bypass", true}});
    draft.add_rule("a b", {{"bypass", true}});
    draft.edit_fields("request_fields", "remove", "Cookie", {});
    const auto rules = draft.finish()["rules"];
    ASSERT_EQ(rules.size(), 3u);
    EXPECT_EQ(rules[0]["name"], "a-b");
    EXPECT_EQ(rules[1]["name"], "a-b-2");
    for (const auto& rule : rules) EXPECT_EQ(rule["request_fields"]["remove"][0], "Cookie");
}

}  // namespace import_parts_test
}  // namespace app
