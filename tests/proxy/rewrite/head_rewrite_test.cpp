#include "proxy/rewrite/head_rewrite.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace proxy {
namespace head_rewrite_test {

using boost::beast::http::string_to_field;

Mirror mirror(std::string_view here, std::string_view origin) {
    auto fault = PrefixFault::no_url;
    Mirror made;
    made.here = parse_url_prefix(here, fault).value();
    made.origin = parse_url_prefix(origin, fault).value();
    made.location = made.links = true;
    made.up_to = 1000;
    return made;
}

Field line(std::string_view name, std::string_view value) {
    return {string_to_field(name), name, value};
}

class HeadRewriting : public ::testing::Test {
protected:
    HeadRewriting()
        : all({mirror("http://mirror.test/pypi", "https://pypi.test"),
               mirror("http://mirror.test/deep", "https://deep.test/simple")}) {
        own.assign_url("http://mirror.test/pypi/simple/x");
        base.assign_url("https://pypi.test/simple/x");
        page.status = 200;
        page.fields = {line("Content-Type", "text/html; charset=utf-8"), line("ETag", "\"a\""),
                       line("Content-Length", "100")};
    }

    const Mirror& of() const { return *all.find(own); }
    RewriteRequest request() const { return {all, of(), own, base, false, sent_tags}; }
    std::string value(std::string_view name, std::string_view text, unsigned status = 200) const {
        Head head;
        head.status = status;
        head.fields = {line(name, text)};
        HeadRewrite out;
        rewrite_head(request(), head, out);
        return out.fields.empty() ? "(dropped)" : std::string(out.fields.front().value);
    }
    bool rewrites(const Head& head) const {
        HeadRewrite out;
        rewrite_head(request(), head, out);
        return out.body.has_value();
    }
    std::string tag(const Head& head) const {
        HeadRewrite out;
        rewrite_head(request(), head, out);
        for (const auto& field : out.fields)
            if (field.name == "ETag") return std::string(field.value);
        return {};
    }

    const MirrorTable all;
    CacheKey own, base;
    std::string sent_tags;
    Head page;
};

TEST_F(HeadRewriting, LeadsLocationsToTheMirror) {
    EXPECT_EQ(value("Location", "https://pypi.test/a?b#c", 301), "http://mirror.test/pypi/a?b#c");
    EXPECT_EQ(value("Location", "/simple/foo", 301), "http://mirror.test/pypi/simple/foo");
    EXPECT_EQ(value("Location", "../a", 301), "http://mirror.test/pypi/a");
    EXPECT_EQ(value("Location", "//pypi.test", 301), "http://mirror.test/pypi/");
    EXPECT_EQ(value("Location", "https://deep.test/simple/a", 302), "http://mirror.test/deep/a");
    EXPECT_EQ(value("Content-Location", "x.json"), "http://mirror.test/pypi/simple/x.json");
    EXPECT_EQ(value("Refresh", "5; URL=\"/a\""), "5; URL=\"http://mirror.test/pypi/a\"");
    EXPECT_EQ(value("Refresh", "5"), "5");
    EXPECT_EQ(value("Location", "https://pypi.test/a b", 302), "http://mirror.test/pypi/a%20b");
    EXPECT_EQ(value("Location", "", 302), "");
}

TEST_F(HeadRewriting, LeadsClientsToTheMirrorForTokens) {  // RFC 6750 §3
    const auto challenge = [&](std::string_view text) {
        return value("WWW-Authenticate", text, 401);
    };
    EXPECT_EQ(challenge("Bearer realm=\"https://pypi.test/token\",service=\"pypi.test\""),
              "Bearer realm=\"http://mirror.test/pypi/token\",service=\"pypi.test\"");
    EXPECT_EQ(challenge("Basic realm=\"a\\\"b\", Bearer Realm=\"https://deep.test/simple/t?a=b\""),
              "Basic realm=\"a\\\"b\", Bearer Realm=\"http://mirror.test/deep/t?a=b\"");
    for (const auto* text : {"Basic realm=\"simple\"", "Bearer realm=\"https://auth.test/token\"",
                             "Bearer realm=\"https://pypi.test/token", "Negotiate",
                             "Basic realm=\"", "Basic x=\"realm=\\\"https://pypi.test/\\\"\""})
        EXPECT_EQ(challenge(text), text);
}

TEST_F(HeadRewriting, LeavesOtherHostsAlone) {
    for (const auto* url :
         {"https://cdn.test/x?sig=1", "https://deep.test/help", "https://pypi.test:8443/",
          "mailto:a@pypi.test", "https://pypi.test.evil/"})
        EXPECT_EQ(value("Location", url, 302), url);
}

TEST_F(HeadRewriting, MakesAPathWithoutAMirrorAbsolute) {
    own.assign_url("http://mirror.test/deep/x");
    base.assign_url("https://deep.test/simple/x");
    EXPECT_EQ(value("Location", "/help#a", 301), "https://deep.test/help#a");
    EXPECT_EQ(value("Location", "../../help", 301), "https://deep.test/help");
    EXPECT_EQ(value("Location", "y", 301), "http://mirror.test/deep/y");
}

TEST_F(HeadRewriting, LeadsNoClientInACircle) {
    EXPECT_EQ(value("Location", "http://pypi.test/simple/x", 301), "http://pypi.test/simple/x");
    EXPECT_EQ(value("Location", "/simple/x", 301), "https://pypi.test/simple/x");
    EXPECT_EQ(value("Location", "/simple/x", 201), "http://mirror.test/pypi/simple/x");
    EXPECT_EQ(value("Content-Location", "/simple/x"), "http://mirror.test/pypi/simple/x");
}

TEST_F(HeadRewriting, RewritesTheTargetsOfLink) {
    EXPECT_EQ(
        value("Link", "</a>; rel=next, <https://cdn.test/b>; title=\"</c>\", <https://pypi.test>"),
        "<http://mirror.test/pypi/a>; rel=next, <https://cdn.test/b>; title=\"</c>\", "
        "<http://mirror.test/pypi/>");
    EXPECT_EQ(value("Link", "<no end"), "<no end");
}

TEST_F(HeadRewriting, BoundsWhatReferencesGrowTo) {
    std::string many;
    for (int i = 0; i < 20'000; ++i) many.append("<>");
    own.assign_url("http://mirror.test/pypi/" + std::string(6000, 'x'));
    base.assign_url("https://pypi.test/" + std::string(6000, 'x'));
    EXPECT_LT(value("Link", many).size(), 64 * 1024 + 6100 + many.size());
    Head head;
    head.status = 200;
    head.fields.assign(1000, line("Link", "<>"));
    HeadRewrite out;
    rewrite_head(request(), head, out);
    std::size_t bytes = 0;
    for (const auto& each : out.fields) bytes += each.value.size();
    EXPECT_LT(bytes, 64u * 1024 + 6100 + 2000);
}

TEST_F(HeadRewriting, KeepsCookiesOfOriginsApart) {
    EXPECT_EQ(value("Set-Cookie", "a=b; Path=/; Secure; HttpOnly"),
              "a=b; Path=/pypi/; Secure; HttpOnly");
    EXPECT_EQ(value("Set-Cookie", "a=\"x;y\"; Domain=.pypi.test; path=/simple"),
              "a=\"x;y\"; Path=/pypi/simple");
    EXPECT_EQ(value("Set-Cookie", "a=b"), "a=b");
    own.assign_url("http://mirror.test/pypi");
    EXPECT_EQ(value("Set-Cookie", "a=b"), "a=b; Path=/pypi") << "without it, / would be the path";
    EXPECT_EQ(value("Set-Cookie", "a=b; Path=x"), "a=b; Path=; Path=/pypi");
    own.assign_url("http://mirror.test/deep/x");
    base.assign_url("https://deep.test/simple/x");
    EXPECT_EQ(value("Set-Cookie", "a=b; Path=/"), "a=b; Path=/deep");
    EXPECT_EQ(value("Set-Cookie", "a=b; Path=/simple/x"), "a=b; Path=/deep/x");
    EXPECT_EQ(value("Set-Cookie", "a=b; Path=/admin"), "a=b; Path=/deep/admin");
}

TEST_F(HeadRewriting, DropsCookiesThatBrowsersRefuseFromTheOrigin) {  // RFC 6265 §5.3
    for (const auto* cookie : {"a=b; Domain=evil.test", "a=b; Domain=other.mirror.test; Path=/",
                               "a=b; Domain=pypi.test; domain=evil.test", "a=b; Domain=ypi.test"})
        EXPECT_EQ(value("Set-Cookie", cookie), "(dropped)") << cookie;
    EXPECT_EQ(value("Set-Cookie", "a=b; Domain=evil.test; Domain=pypi.test"), "a=b");
    EXPECT_EQ(value("Set-Cookie", "a=b; Domain=mirror.test; Path=/"), "a=b; Path=/pypi/")
        << "an application may know its public name";
    EXPECT_EQ(value("Set-Cookie", "a=b; Domain="), "a=b");
}

/// Mirrors of which one is above another, one has a port of its own, and one has the same party.
class SharedCookies : public HeadRewriting {
protected:
    SharedCookies()
        : shared({mirror("http://mirror.test", "https://root.test"),
                  mirror("http://mirror.test/files", "https://files.test"),
                  mirror("http://mirror.test/more", "https://root.test/more"),
                  mirror("https://mirror.test:8443/api", "https://api.test"),
                  mirror("http://alone.test", "https://alone.test")}) {}

    std::string cookie(std::string_view here, std::string_view text) {
        own.assign_url(here);
        const auto& of = *shared.find(own);
        base.assign_url(of.url_at_origin(own.path()));
        return mirrored_cookie({shared, of, own, base}, text).value_or("(dropped)");
    }
    std::string mark(std::string_view authority) const {
        return "~m" + shared.find_site(Scheme::https, authority)->party;
    }

    const MirrorTable shared;
};

TEST_F(SharedCookies, HaveAMarkWhereBrowsersSendThemToAnotherParty) {
    const auto root = mark("root.test");
    const auto below = "http://mirror.test/x/y";
    EXPECT_EQ(cookie(below, "sid=1; Path=/; HttpOnly"), "sid" + root + "=1; Path=/; HttpOnly");
    EXPECT_EQ(cookie("http://mirror.test/x", "sid =1"), "sid" + root + " =1") << "its path is /";
    EXPECT_EQ(cookie(below, "sid=1"), "sid=1") << "its path is /x";
    EXPECT_EQ(cookie(below, "sid=1; Path=/files/deep"), "sid" + root + "=1; Path=/files/deep");
    EXPECT_EQ(cookie(below, "sid=1; Path=/api"), "sid" + root + "=1; Path=/api") << "no ports";
    EXPECT_EQ(cookie(below, "sid=1; Path=/more"), "sid=1; Path=/more") << "the same party";
    EXPECT_EQ(cookie(below, "sid=1; Path=/filesystem"), "sid=1; Path=/filesystem");
    EXPECT_EQ(cookie(below, "1; Path=/"), "(dropped)") << "it has no name";
    EXPECT_EQ(cookie("http://mirror.test/files/x", "sid=1; Path=/"), "sid=1; Path=/files/");
    EXPECT_EQ(cookie("https://mirror.test:8443/api/x", "sid=1; Path=/"),
              "sid" + mark("api.test") + "=1; Path=/api/")
        << "http://mirror.test/api/ is of another party";
    EXPECT_EQ(cookie("http://alone.test/", "sid=1; Path=/"), "sid=1; Path=/");
}

TEST_F(HeadRewriting, DropsWhatTheOriginSaysOfItsHost) {
    EXPECT_EQ(value("Strict-Transport-Security", "max-age=1"), "(dropped)");
    EXPECT_EQ(value("Alt-Svc", "h3=\":443\""), "(dropped)");
    EXPECT_EQ(value("X-Other", "https://pypi.test"), "https://pypi.test");
}

TEST_F(HeadRewriting, LeavesTheHeadAloneWithoutLocation) {
    auto alone = mirror("http://mirror.test/pypi", "https://pypi.test");
    alone.location = alone.links = false;
    const MirrorTable table({alone});
    Head head = page;
    head.status = 301;
    head.fields.push_back(line("Location", "/x"));
    HeadRewrite out;
    rewrite_head({table, table.all().front(), own, base}, head, out);
    EXPECT_FALSE(out.changed);
    EXPECT_FALSE(out.body);
}

TEST_F(HeadRewriting, RewritesBodiesOfHtmlAndJson) {
    for (const auto* type :
         {"text/html", "TEXT/HTML; charset=utf-8", "application/xhtml+xml", "application/json",
          "application/vnd.pypi.simple.v1+json", "application/vnd.pypi.simple.v1+html",
          "application/vnd.npm.install-v1+json; charset=utf-8"}) {
        page.fields.front().value = type;
        EXPECT_TRUE(rewrites(page)) << type;
    }
    for (const auto* type : {"application/octet-stream", "text/plain", "application/x-tar", ""}) {
        page.fields.front().value = type;
        EXPECT_FALSE(rewrites(page)) << type;
    }
    page.fields.front().value = "text/plain";
    base.assign_url("https://pypi.test/config.json?x");
    EXPECT_TRUE(rewrites(page)) << "cargo's index has this type";
}

TEST_F(HeadRewriting, LeavesBodiesAloneWhoseBytesCount) {
    for (const auto* name : {"Docker-Content-Digest", "Repr-Digest", "Content-Digest", "digest",
                             "Content-MD5", "Signature", "Signature-Input"}) {
        auto head = page;
        head.fields.push_back(line(name, "x"));
        EXPECT_FALSE(rewrites(head)) << name;
        EXPECT_EQ(tag(head), "\"a\"") << name;
        head.status = 206;
        EXPECT_FALSE(is_part_to_rewrite(of(), head, "/x")) << name;
        EXPECT_FALSE(depends_on_mirror(of(), head.fields, "/x")) << name;
    }
    for (const auto* type :
         {"application/vnd.oci.image.manifest.v1+json", "application/vnd.oci.image.index.v1+json",
          "application/vnd.docker.distribution.manifest.v2+json",
          "application/vnd.docker.distribution.manifest.list.v2+json",
          "Application/vnd.OCI.image.config.v1+json"}) {
        auto head = page;
        head.fields.front().value = type;
        EXPECT_FALSE(rewrites(head)) << type;
    }
    page.fields.front().value = "application/json";
    base.assign_url("https://pypi.test/v2/library/x/manifests/latest");
    EXPECT_FALSE(rewrites(page));
    base.assign_url("https://pypi.test/v2/library/x/tags/list");
    EXPECT_TRUE(rewrites(page));
}

TEST_F(HeadRewriting, RewritesTheHeadOfAnInterimResponse) {
    EXPECT_EQ(value("Link", "</style.css>; rel=preload", 103),
              "<http://mirror.test/pypi/style.css>; rel=preload");
    EXPECT_EQ(value("Strict-Transport-Security", "max-age=1", 103), "(dropped)");
    EXPECT_EQ(value("Set-Cookie", "a=b; Domain=evil.test", 101), "(dropped)");
}

TEST_F(HeadRewriting, LetsPagesOfTheMirrorRead) {
    const auto allowed = [this](std::string_view site) {
        return value("Access-Control-Allow-Origin", site);
    };
    EXPECT_EQ(allowed("https://pypi.test"), "http://mirror.test");
    for (const auto* site : {"*", "null", "https://other.test", "http://mirror.test"})
        EXPECT_EQ(allowed(site), site);
}

TEST_F(HeadRewriting, DropsFieldsAboutOtherBytes) {
    for (const auto* name : {"X-Checksum-Sha1", "x-amz-checksum-sha256", "X-Goog-Hash"})
        page.fields.push_back(line(name, "x"));
    page.fields.push_back(line("Last-Modified", "y"));
    page.fields.push_back(line("Accept-Ranges", "bytes"));
    HeadRewrite out;
    rewrite_head(request(), page, out);
    std::string names;
    for (const auto& field : out.fields) names.append(field.name).append(" ");
    EXPECT_EQ(names, "Content-Type ETag Last-Modified Accept-Ranges ");
    EXPECT_EQ(tag(page), "\"a-r" + of().mark_text + "\"");
}

TEST_F(HeadRewriting, LeavesBodiesAloneThatItMayNotOrCannotChange) {
    const auto untouched = [this](const Head& head) {
        return !rewrites(head) && tag(head) == "\"a\"";
    };
    auto head = page;
    head.fields.push_back(line("Cache-Control", "max-age=1, No-Transform"));
    EXPECT_TRUE(untouched(head));
    for (const auto* coding : {"br", "zstd", "gzip, br", "gzip, gzip"}) {
        head = page;
        head.fields.push_back(line("Content-Encoding", coding));
        EXPECT_TRUE(untouched(head)) << coding;
    }
    head = page;
    head.fields.back().value = "1001";
    EXPECT_TRUE(untouched(head)) << "beyond rewrite_up_to";
    for (const auto status : {204u, 206u}) {
        head = page;
        head.status = status;
        EXPECT_TRUE(untouched(head)) << status;
    }
    head = page;
    head.status = 404;
    EXPECT_TRUE(rewrites(head)) << "an error page has links as well";
}

TEST_F(HeadRewriting, WeakensTheTagOfABodyWithANewCoding) {
    page.fields.push_back(line("Content-Encoding", "gzip"));
    EXPECT_TRUE(rewrites(page));
    EXPECT_EQ(tag(page), "W/\"a-w" + of().mark_text + "\"");
}

TEST_F(HeadRewriting, GivesA304TheTagThatTheClientKnows) {
    page.status = 304;
    EXPECT_EQ(tag(page), "\"a\"");
    sent_tags = "\"a-r" + of().mark_text + "\"";
    EXPECT_EQ(tag(page), sent_tags);
}

TEST_F(HeadRewriting, KnowsPartsThatItCannotRewrite) {
    Head part = page;
    part.status = 206;
    EXPECT_TRUE(is_part_to_rewrite(of(), part, "/x"));
    part.fields.front().value = "multipart/byteranges; boundary=x";
    EXPECT_TRUE(is_part_to_rewrite(of(), part, "/x"));
    part.fields.front().value = "application/zip";
    EXPECT_FALSE(is_part_to_rewrite(of(), part, "/x"));
    EXPECT_FALSE(is_part_to_rewrite(of(), page, "/x"));
}

TEST_F(HeadRewriting, BindsResponsesToTheSettings) {
    EXPECT_TRUE(depends_on_mirror(of(), page.fields, "/x"));
    const std::vector<Field> file{line("Content-Type", "application/zip")};
    EXPECT_FALSE(depends_on_mirror(of(), file, "/x"));
    const std::vector<Field> redirect{line("Location", "https://cdn.test/")};
    EXPECT_TRUE(depends_on_mirror(of(), redirect, "/x"));
}

TEST(CodingForOrigin, IsGzipOrNone) {
    const auto coding = [](std::string_view accepted) {
        const std::vector<Field> fields{line("Accept-Encoding", accepted)};
        return std::string(coding_for_origin(fields).value_or("absent"));
    };
    EXPECT_EQ(coding("gzip, deflate, br"), "gzip");
    EXPECT_EQ(coding("br;q=1, gzip;q=0.5"), "gzip");
    EXPECT_EQ(coding("*"), "gzip");
    EXPECT_EQ(coding("gzip;q=0, br"), "identity");
    EXPECT_EQ(coding("gzip; q=0.000, *"), "identity");
    EXPECT_EQ(coding("br, zstd"), "identity");
    EXPECT_EQ(coding("identity"), "identity");
    EXPECT_EQ(coding_for_origin({}), std::nullopt);
}

}  // namespace head_rewrite_test
}  // namespace proxy
