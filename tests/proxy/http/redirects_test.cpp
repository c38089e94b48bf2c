#include "proxy/http/redirects.hpp"

#include <gtest/gtest.h>

#include "proxy/http/field_list.hpp"
#include "proxy/http/http_date.hpp"
#include "proxy/http/rule.hpp"

namespace proxy {
namespace redirects_test {

using boost::beast::http::field;
using namespace std::chrono_literals;

CacheKey key(std::string_view url) {
    CacheKey key;
    EXPECT_EQ(key.assign_url(url), TargetError::none) << url;
    return key;
}

Field line(std::string_view name, std::string_view value) {
    return {boost::beast::http::string_to_field(name), name, value};
}

Head head(unsigned status, std::vector<Field> fields) {
    Head head;
    head.status = status;
    head.fields = std::move(fields);
    return head;
}

std::string target(const Head& head, std::string_view at, bool keeps_cookie = true) {
    const auto found = redirect_target(head, key(at), keeps_cookie);
    return found ? std::string(found->uri()) : "none";
}

TEST(RedirectTarget, IsTheOneLocation) {
    const auto to = [](std::string_view location, unsigned status = 302,
                       std::string_view at = "http://a.test/x/y?q") {
        return target(head(status, {line("Location", location)}), at);
    };
    EXPECT_EQ(to("http://B.test/1?sig=%2f#part"), "http://b.test/1?sig=%2f");
    EXPECT_EQ(to("z", 307), "http://a.test/x/z");
    EXPECT_EQ(to("../z", 301), "http://a.test/z");
    EXPECT_EQ(to("//c.test"), "http://c.test/");
    EXPECT_EQ(to("https://a.test/"), "https://a.test/");
    EXPECT_EQ(to("https://a.test/", 308, "https://b.test/"), "https://a.test/");
    EXPECT_EQ(to("http://a.test/", 303, "https://a.test/"), "none") << "never out of TLS";
    for (const auto status : {200u, 201u, 300u, 304u, 305u, 404u})
        EXPECT_EQ(to("z", status), "none");
    for (const auto* bad : {"", "ftp://a.test/", "http://user@a.test/", "http:///x", "http://a b/"})
        EXPECT_EQ(to(bad), "none") << bad;
    EXPECT_EQ(target(head(302, {}), "http://a.test/"), "none");
    EXPECT_EQ(target(head(302, {line("Location", "/1"), line("Location", "/2")}), "http://a.test/"),
              "none");
}

TEST(RedirectTarget, IsOfASessionWithACookie) {
    const auto redirect = head(302, {line("Location", "/1"), line("Set-Cookie", "a=1")});
    EXPECT_EQ(target(redirect, "http://a.test/"), "none");
    EXPECT_EQ(target(redirect, "http://a.test/", false), "http://a.test/1");
}

TEST(AnotherHost, GetsNoFieldThatMayBeACredential) {
    for (const auto* name : {"Accept", "accept-encoding", "User-Agent"})
        EXPECT_TRUE(may_go_to_another_host(line(name, "x"))) << name;
    for (const auto* name : {"Authorization", "Cookie", "Proxy-Authorization", "X-Api-Key",
                             "Referer", "X-Forwarded-For", "Forwarded", "Host", "Via"})
        EXPECT_FALSE(may_go_to_another_host(line(name, "x"))) << name;
}

constexpr WallTime kNow{std::chrono::seconds(1'700'000'000)};

/// The final response after one redirect with this Cache-Control.
class Chain {
public:
    Chain(std::vector<Field> redirect, std::vector<Field> final, bool from_another = true)
        : first_(head(302, std::move(redirect))), last_(head(200, std::move(final))) {
        redirects.add(received(first_));
        redirects.end_at(received(last_), "http://b.test/", from_another);
    }
    std::string value(std::string_view name) const {
        std::string all;
        for (const auto& one : redirects.fields())
            if (iequals(one.name, name)) all.append(all.empty() ? "" : " | ").append(one.value);
        return all;
    }
    Redirects redirects{CacheRules{}};

private:
    static ReceivedHead received(const Head& head) { return {head, kNow, {}}; }
    const Head first_, last_;
};

TEST(Redirects, CarryTheStrictestAgeOfTheirTargets) {
    const auto first = head(302, {line("Location", "http://b.test/")});
    const auto last = head(200, {line("Hearsay-Min-Age", "1"), line("ETag", "x")});
    const auto value = [&](std::initializer_list<std::optional<std::chrono::seconds>> ages) {
        Redirects redirects{CacheRules{}};
        for (const auto& age : ages) redirects.add({first, kNow, {}}, age);
        redirects.end_at({last, kNow, {}}, "http://b.test/", true);
        std::string all;
        for (const auto& one : redirects.fields())
            if (iequals(one.name, "Hearsay-Min-Age")) all.append(one.value).append(";");
        return all;
    };
    using std::chrono::seconds;
    EXPECT_EQ(value({seconds(60), seconds(86400), std::nullopt}), "86400;");
    EXPECT_EQ(value({std::nullopt}), "") << "an origin states none";
}

TEST(Redirects, GiveTheNamedFieldsOfTheFirstThatHasThem) {
    StoringRule rule;
    rule.redirect_fields = {"x-commit", "x-size"};
    CacheRules rules;
    rules.rule = &rule;
    Redirects redirects(rules);
    {
        // The heads of redirects are gone when the final one comes.
        std::string first(40, 'a'), second(40, 'b');
        const auto one = head(302, {line("X-Commit", first), line("X-Xet-Hash", "1")});
        redirects.add({one, kNow, {}});
        const auto two = head(302, {line("x-commit", second), line("X-Size", "7")});
        redirects.add({two, kNow, {}});
        first.assign(40, '-');
        second.assign(40, '-');
    }
    const auto last = head(200, {line("X-Commit", "of the CDN"), line("ETag", "x")});
    redirects.end_at({last, kNow, {}}, "http://b.test/", true);
    std::string all;
    for (const auto& one : redirects.fields())
        if (iequals(one.name.substr(0, 2), "x-"))
            all.append(one.name).append("=").append(one.value).append(";");
    EXPECT_EQ(all, "X-Commit=" + std::string(40, 'a') + ";X-Size=7;");
}

std::string combined(std::string_view redirect, std::string_view final) {
    return Chain({line("Cache-Control", redirect)}, {line("Cache-Control", final)})
        .value("Cache-Control");
}

TEST(Redirects, GiveTheNarrowestStatements) {
    EXPECT_EQ(combined("max-age=60", "max-age=600"), "max-age=60");
    EXPECT_EQ(combined("max-age=600", "max-age=60"), "max-age=60");
    EXPECT_EQ(combined("no-cache, max-age=9", "max-age=60"), "no-cache, max-age=9");
    EXPECT_EQ(combined("private, max-age=9", "max-age=9"), "private, max-age=9");
    EXPECT_EQ(combined("no-store", "public, max-age=9"), "no-store, max-age=0");
    EXPECT_EQ(combined("max-age=9", "no-store"), "no-store, max-age=0");
    EXPECT_EQ(combined("public, max-age=9", "s-maxage=5, max-age=7"),
              "public, max-age=5, proxy-revalidate");
    EXPECT_EQ(combined("s-maxage=9", "s-maxage=5, max-age=3"), "public, max-age=3, s-maxage=5");
    EXPECT_EQ(combined("max-age=9", "public, max-age=9"), "max-age=9")
        << "only one permits sharing";
    EXPECT_EQ(combined("must-revalidate, max-age=9", "max-age=9"), "max-age=9, proxy-revalidate");
    EXPECT_EQ(combined("max-age=9, stale-if-error=5", "max-age=9, stale-if-error=7"),
              "max-age=9, stale-if-error=5");
    EXPECT_EQ(combined("max-age=9", "max-age=9, stale-if-error=7"), "max-age=9");
    EXPECT_EQ(combined("max-age=9, stale-if-error=0", "max-age=9"), "max-age=9, stale-if-error=0");
    EXPECT_EQ(combined("max-age=9, immutable", "max-age=9, immutable, no-transform"),
              "max-age=9, immutable, no-transform");
    EXPECT_EQ(combined("max-age=9", "max-age=9, private=\"X-A\", no-cache=\"X-B, X-C\""),
              "private=\"X-A\", no-cache=\"X-B, X-C\", max-age=9");
}

TEST(Redirects, CountTheAgeOfEachResponse) {
    EXPECT_EQ(Chain({line("Cache-Control", "max-age=60"), line("Age", "50")},
                    {line("Cache-Control", "max-age=600"), line("Age", "100")})
                  .value("Cache-Control"),
              "max-age=110")
        << "ten seconds from now, at the age that the final response states";
    EXPECT_EQ(Chain({line("Cache-Control", "max-age=60"), line("Age", "70")},
                    {line("Cache-Control", "max-age=600")})
                  .value("Cache-Control"),
              "max-age=0");
}

TEST(Redirects, WithoutALifetimeAreStaleAtOnce) {
    const Chain chain({}, {line("Cache-Control", "max-age=600")});
    EXPECT_EQ(chain.value("Cache-Control"), "max-age=0");
    EXPECT_FALSE(chain.redirects.is_explicit());
    const Chain both({line("Cache-Control", "max-age=1")}, {line("Cache-Control", "max-age=600")});
    EXPECT_TRUE(both.redirects.is_explicit());
    EXPECT_EQ(both.redirects.count(), 1u);
}

TEST(Redirects, GiveClientsNoMoreThanCacheControlDoes) {
    EXPECT_EQ(Chain({line("Cache-Control", "max-age=60")},
                    {line("CDN-Cache-Control", "max-age=600"), line("Cache-Control", "no-store")})
                  .value("Cache-Control"),
              "no-store, max-age=0");
}

TEST(Redirects, LeaveOutWhatIsWrongUnderTheFirstUrl) {
    const std::vector<Field> final{line("Content-Type", "a/b"),      line("Content-Location", "/x"),
                                   line("Location", "/y"),           line("Expires", "0"),
                                   line("Set-Cookie", "a=1"),        line("Alt-Svc", "h2"),
                                   line("Hearsay-Source", "forged"), line("Vary", "Accept")};
    const Chain chain({line("Vary", "Accept-Language"), line("X-Hop", "1")}, final);
    EXPECT_EQ(chain.value("Content-Type"), "a/b");
    for (const auto* name :
         {"Content-Location", "Location", "Expires", "Set-Cookie", "Alt-Svc", "X-Hop"})
        EXPECT_EQ(chain.value(name), "") << name;
    EXPECT_EQ(chain.value("Vary"), "accept-language, accept");
    EXPECT_EQ(chain.value("Hearsay-Source"), source_text("http://b.test/"));
    EXPECT_EQ(source_of(chain.redirects.fields()), source_text("http://b.test/"));
    EXPECT_TRUE(chain.redirects.dropped_cookies());
    EXPECT_EQ(chain.redirects.why_left(), StorageVerdict::store);
    const Chain same({}, final, false);
    EXPECT_EQ(same.value("Set-Cookie"), "a=1");
    EXPECT_FALSE(same.redirects.dropped_cookies());
}

TEST(Redirects, ThatAreLeftToTheClientHaveAWholeLocation) {
    const auto first = head(302, {line("Location", "http://b.test/x/1")});
    const auto last = head(307, {line("Location", "2#part"), line("X-A", "1")});
    Redirects redirects{CacheRules{}};
    redirects.add({first, kNow, {}});
    redirects.end_unfollowed({last, kNow, {}}, key("http://b.test/x/1"),
                             StorageVerdict::redirect_host);
    EXPECT_EQ(redirects.why_left(), StorageVerdict::redirect_host);
    ASSERT_EQ(redirects.fields().size(), 2u);
    EXPECT_EQ(redirects.fields()[0].value, "http://b.test/x/2#part");
    EXPECT_EQ(redirects.fields()[1].value, "1");
}

TEST(Redirects, WithoutATargetHaveAReason) {
    const auto cookie = head(302, {line("Location", "/x"), line("Set-Cookie", "a=1")});
    EXPECT_EQ(why_without_target(cookie, true), StorageVerdict::redirect_cookie);
    EXPECT_EQ(why_without_target(cookie, false), StorageVerdict::redirect_target);
    EXPECT_EQ(why_without_target(head(302, {}), true), StorageVerdict::redirect_target);
}

}  // namespace redirects_test
}  // namespace proxy
