#include "proxy/rewrite/link_replacer.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace proxy {
namespace link_replacer_test {

Mirror mirror(std::string_view here, std::string_view origin) {
    auto fault = PrefixFault::no_url;
    Mirror made;
    made.here = parse_url_prefix(here, fault).value();
    made.origin = parse_url_prefix(origin, fault).value();
    made.links = made.location = true;
    return made;
}

/// The mirrors of these tests; the response comes from the first.
std::shared_ptr<const MirrorTable> table() {
    return std::make_shared<const MirrorTable>(std::vector<Mirror>{
        mirror("http://mirror.test/pypi", "https://pypi.test"),
        mirror("http://mirror.test/files", "https://files.test"),
        mirror("http://mirror.test/deep", "https://deep.test/simple"),
        mirror("http://mirror.test/deeper", "https://deep.test/simple/more"),
        mirror("http://plain.mirror.test", "http://plain.test:8080"),
    });
}

const Mirror& of(const MirrorTable& all, std::string_view authority) {
    for (const auto& one : all.all())
        if (one.origin.authority == authority) return one;
    throw std::logic_error("no such mirror");
}

std::string replaced(std::string_view text, LinkSyntax syntax, std::size_t piece,
                     std::string_view authority = "pypi.test") {
    const auto all = table();
    const auto& from = of(*all, authority);
    LinkReplacer links(all, from, syntax, from.origin.scheme, from.origin.authority);
    std::string out;
    do {
        auto part = text.substr(0, piece);
        text.remove_prefix(part.size());
        do links.replace(part, text.empty(), out);
        while (!part.empty());
    } while (!text.empty());
    return out;
}

/// The result, which has to be the same for pieces of every size.
std::string html(std::string_view text, std::string_view authority = "pypi.test") {
    const auto whole = replaced(text, LinkSyntax::html, text.size() + 1, authority);
    for (std::size_t piece = 1; piece < text.size(); ++piece)
        EXPECT_EQ(replaced(text, LinkSyntax::html, piece, authority), whole) << piece;
    return whole;
}
std::string json(std::string_view text, std::string_view authority = "pypi.test") {
    const auto whole = replaced(text, LinkSyntax::json, text.size() + 1, authority);
    for (std::size_t piece = 1; piece < text.size(); ++piece)
        EXPECT_EQ(replaced(text, LinkSyntax::json, piece, authority), whole) << piece;
    return whole;
}

TEST(LinkReplacer, MakesNoPathIntoAnotherHost) {
    const auto all = std::make_shared<const MirrorTable>(
        std::vector<Mirror>{mirror("http://mirror.test", "https://pypi.test/simple")});
    const auto at_root = [&](std::string_view text, LinkSyntax syntax) {
        std::string whole;
        for (std::size_t piece = text.size() + 1; piece > 0; --piece) {
            LinkReplacer links(all, all->all().front(), syntax, Scheme::https, "pypi.test");
            std::string out;
            auto rest = text;
            do {
                auto part = rest.substr(0, piece);
                rest.remove_prefix(part.size());
                do links.replace(part, rest.empty(), out);
                while (!part.empty());
            } while (!rest.empty());
            if (whole.empty()) whole = out;
            EXPECT_EQ(out, whole) << piece;
        }
        return whole;
    };
    const auto in_html = [&](std::string_view path) {
        return at_root("<a href=\"" + std::string(path) + "\">", LinkSyntax::html);
    };
    EXPECT_EQ(in_html("/simple//evil/x"), "<a href=\"http://mirror.test//evil/x\">");
    EXPECT_EQ(in_html("/simple/\\evil/x"), "<a href=\"http://mirror.test/\\evil/x\">");
    EXPECT_EQ(in_html("/simple\\evil/x"), "<a href=\"http://mirror.test/\\evil/x\">");
    EXPECT_EQ(in_html("/simple\\/evil/x"), "<a href=\"http://mirror.test\\/evil/x\">");
    EXPECT_EQ(in_html("/simple/x"), "<a href=\"http://mirror.test/x\">");
    EXPECT_EQ(in_html("/simple"), "<a href=\"http://mirror.test/\">");
    EXPECT_EQ(in_html("/simple?x"), "<a href=\"http://mirror.test/?x\">");
    EXPECT_EQ(at_root(R"({"url": "\/simple\/\/evil\/x"})", LinkSyntax::json),
              R"({"url": "http:\/\/mirror.test\/\/evil\/x"})");
}

TEST(LinkReplacer, RenamesTheMemberThatLeadsToXet) {
    for (const auto* here : {"http://mirror.test/hub", "http://hub.test"}) {
        auto hub = mirror(here, "http://hub.test");
        const std::string text = R"({"xetHash" : "1", "x": "xetHash", "xetHashes": 2, "url": 3})";
        const std::string renamed =
            R"({"xetHashAtOrigin" : "1", "x": "xetHash", "xetHashes": 2, "url": 3})";
        for (const auto xet : {false, true}) {
            hub.xet = xet;
            const auto all = std::make_shared<const MirrorTable>(std::vector<Mirror>{hub});
            for (std::size_t piece = 1; piece <= text.size(); ++piece) {
                const auto& of = all->all().front();
                LinkReplacer links(all, of, LinkSyntax::json, Scheme::http, "hub.test");
                std::string out;
                for (std::size_t at = 0; at < text.size(); at += piece) {
                    auto part = std::string_view(text).substr(at, piece);
                    while (!part.empty()) links.replace(part, at + piece >= text.size(), out);
                }
                EXPECT_EQ(out, xet ? renamed : text) << here << ", " << piece;
            }
        }
    }
}

TEST(LinkReplacer, GivesEachMirroredAddressItsPublicUrl) {
    EXPECT_EQ(html("<a href=\"https://pypi.test/simple/x/\">x</a> https://files.test"),
              "<a href=\"http://mirror.test/pypi/simple/x/\">x</a> http://mirror.test/files");
    EXPECT_EQ(html("'https://PyPI.test/' HTTPS://pypi.test?x https://pypi.test#y"),
              "'http://mirror.test/pypi/' http://mirror.test/pypi?x http://mirror.test/pypi#y");
    EXPECT_EQ(html("(https://pypi.test:443/x)"), "(http://mirror.test/pypi/x)");
    EXPECT_EQ(html("http://plain.test:8080/x"), "http://plain.mirror.test/x");
}

TEST(LinkReplacer, LeavesOtherHostsAlone) {
    for (const auto* text : {"https://pypi.test.evil/",
                             "https://mypypi.test/",
                             "https://pypi.test@evil/",
                             "https://evil@pypi.test/",
                             "https://pypi.test:8443/",
                             "https://pypi.tes",
                             "https://pypi.testx",
                             "https:/pypi.test/",
                             "https//pypi.test/",
                             "ftp://pypi.test/",
                             "git+https://pypi.test/",
                             "xhttps://pypi.test/",
                             "https://pypi.test%2Eevil/",
                             "http",
                             "h",
                             "https://",
                             "://pypi.test",
                             "x//pypi.test/",
                             "https://pypi.test&x",
                             "http://plain.test/"})
        EXPECT_EQ(html(text), text);
}

TEST(LinkReplacer, TakesNoHttpsLinkToAnOriginThatIsAskedInTheClear) {
    EXPECT_EQ(html(" https://plain.test:8080/x"), " https://plain.test:8080/x");
    EXPECT_EQ(html(" http://pypi.test/x"), " http://mirror.test/pypi/x");
}

TEST(LinkReplacer, ChoosesTheLongestPathAtTheOrigin) {
    EXPECT_EQ(html("<https://deep.test/simple/a> <https://deep.test/simple/more/b>"),
              "<http://mirror.test/deep/a> <http://mirror.test/deeper/b>");
    EXPECT_EQ(html("<https://deep.test/simple> <https://deep.test/simple/more>"),
              "<http://mirror.test/deep> <http://mirror.test/deeper>");
    EXPECT_EQ(html("<https://deep.test/simpler> <https://deep.test/simple+x> <https://deep.test>"),
              "<https://deep.test/simpler> <https://deep.test/simple+x> <https://deep.test>");
    EXPECT_EQ(html("https://deep.test/simple"), "http://mirror.test/deep");
}

TEST(LinkReplacer, KeepsEscapedSlashesEscaped) {
    EXPECT_EQ(
        json(R"({"u":"https:\/\/pypi.test\/simple\/x","v":"https:\/\/deep.test\/simple\/y"})"),
        R"({"u":"http:\/\/mirror.test\/pypi\/simple\/x","v":"http:\/\/mirror.test\/deep\/y"})");
    EXPECT_EQ(json(R"({"u":"\/\/pypi.test\/x"})"), R"({"u":"http:\/\/mirror.test\/pypi\/x"})");
    EXPECT_EQ(json(R"("{\"u\":\"https://pypi.test\"}")"),
              R"("{\"u\":\"http://mirror.test/pypi\"}")");
}

TEST(LinkReplacer, KnowsLinksWithoutAScheme) {
    EXPECT_EQ(html("<a href=\"//files.test/x\"> <img src=//files.test/y> url(//files.test/z)"),
              "<a href=\"http://mirror.test/files/x\"> <img src=http://mirror.test/files/y> "
              "url(http://mirror.test/files/z)");
}

TEST(LinkReplacer, LeadsPathsFromTheRootToTheMirror) {
    EXPECT_EQ(html("<a href=\"/simple/x/\" HREF = '/y' src=/z><form action=\"/f\">"),
              "<a href=\"/pypi/simple/x/\" HREF = '/pypi/y' src=/pypi/z><form action=\"/pypi/f\">");
    EXPECT_EQ(html("<a href=\"/\">"), "<a href=\"/pypi/\">");
    EXPECT_EQ(html("<a href=\"x/\"> <a xhref=\"/x\"> /href=\"x\" <a href=\"../x\">"),
              "<a href=\"x/\"> <a xhref=\"/x\"> /href=\"x\" <a href=\"../x\">");
    EXPECT_EQ(json(R"({"files":[{"url": "/packages/x", "url":"\/y", "name":"/z"}]})"),
              R"({"files":[{"url": "/pypi/packages/x", "url":"\/pypi\/y", "name":"/z"}]})");
}

TEST(LinkReplacer, MakesPathsAbsoluteThatHaveNoMirror) {
    EXPECT_EQ(
        html("<a href=\"/simple/x\"><a href=\"/simple/more/y\"><a href=\"/help\">", "deep.test"),
        "<a href=\"/deep/x\"><a href=\"/deeper/y\"><a href=\"https://deep.test/help\">");
}

TEST(LinkReplacer, LeavesPathsFromTheRootAloneWhereTheyAreRight) {
    EXPECT_EQ(html("<a href=\"/x\">", "plain.test:8080"), "<a href=\"/x\">");
}

TEST(LinkReplacer, GivesBackWhatItHasNotDecided) {
    const auto all = table();
    LinkReplacer links(all, all->all().front(), LinkSyntax::html, Scheme::https, "pypi.test");
    std::string_view text = "see https://pypi.te";
    std::string out;
    links.replace(text, false, out);
    EXPECT_EQ(out, "see ");
    links.give_back(out);
    EXPECT_EQ(out, "see https://pypi.te");
}

}  // namespace link_replacer_test
}  // namespace proxy
