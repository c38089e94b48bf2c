#include "proxy/rewrite/request_rewrite.hpp"

#include <gtest/gtest.h>

#include "proxy/http/field_list.hpp"

namespace proxy {
namespace request_rewrite_test {

using boost::beast::http::string_to_field;
using Lines = std::vector<std::pair<std::string_view, std::string>>;

Mirror mirror(std::string_view here, std::string_view origin) {
    auto fault = PrefixFault::no_url;
    Mirror made;
    made.here = parse_url_prefix(here, fault).value();
    made.origin = parse_url_prefix(origin, fault).value();
    made.location = true;
    return made;
}

class RequestRewriting : public ::testing::Test {
protected:
    RequestRewriting()
        : all({mirror("http://mirror.test/shop", "https://shop.test/app"),
               mirror("http://mirror.test/shop/pay", "https://shop.test/pay"),
               mirror("http://mirror.test/evil", "https://evil.test"),
               mirror("http://wiki.test", "https://wiki.test:8443")}) {}

    /// The field of this name in a request to `target`, as the origin gets it.
    std::string sent(std::string_view name, const Lines& lines,
                     std::string_view target = "http://mirror.test/shop/cart") const {
        CacheKey key;
        key.assign_url(target);
        std::vector<Field> fields;
        for (const auto& [each, value] : lines)
            fields.push_back({string_to_field(each), each, value});
        std::deque<std::string> texts;
        rewrite_request(all, *all.find(key), fields, texts);
        for (const auto& line : fields)
            if (iequals(line.name, name)) return std::string(line.value);
        return "(none)";
    }
    std::string mark(std::string_view authority) const {
        return std::string(kPartyMark) + all.find_site(Scheme::https, authority)->party;
    }

    const MirrorTable all;
};

TEST_F(RequestRewriting, GivesPagesTheNamesOfTheOrigin) {
    const Lines own{{"Referer", "http://mirror.test/shop/cart?a=/shop"},
                    {"Origin", "http://mirror.test"},
                    {"Sec-Fetch-Site", "same-origin"}};
    EXPECT_EQ(sent("Referer", own), "https://shop.test/app/cart?a=/shop");
    EXPECT_EQ(sent("Origin", own), "https://shop.test");
    EXPECT_EQ(sent("Sec-Fetch-Site", own), "same-origin");
    EXPECT_EQ(sent("Referer", own, "http://mirror.test/shop/pay/1"),
              "https://shop.test/app/cart?a=/shop");
    EXPECT_EQ(sent("Origin", {{"Origin", "http://wiki.test"}}, "http://wiki.test/x"),
              "https://wiki.test:8443");
    EXPECT_EQ(sent("Origin", {{"Origin", "http://mirror.test"}}), "https://shop.test")
        << "some pages tell no referrer";
    EXPECT_EQ(sent("Referer", {{"Referer", "http://mirror.test/"}}), "https://shop.test/")
        << "some tell their site alone";
}

TEST_F(RequestRewriting, TakesNoPageOfAnotherPartyForOneOfTheOrigin) {
    const Lines other{{"Referer", "http://mirror.test/evil/form?secret"},
                      {"Origin", "http://mirror.test"},
                      {"Sec-Fetch-Site", "same-origin"}};
    EXPECT_EQ(sent("Referer", other), "https://evil.test/");
    EXPECT_EQ(sent("Origin", other), "https://evil.test");
    EXPECT_EQ(sent("Sec-Fetch-Site", other), "cross-site");
    EXPECT_EQ(sent("Origin", {{"Origin", "http://wiki.test"}}), "https://wiki.test:8443");
}

TEST_F(RequestRewriting, LeavesOtherPagesAlone) {
    for (const auto* page : {"https://elsewhere.test/x", "http://mirror.test/unknown",
                             "about:blank", "", "https://shop.test/app/x"})
        EXPECT_EQ(sent("Referer", {{"Referer", page}}), page);
    for (const auto* site : {"null", "https://elsewhere.test", "https://shop.test"})
        EXPECT_EQ(sent("Origin", {{"Origin", site}}), site);
    EXPECT_EQ(sent("Sec-Fetch-Site", {{"Sec-Fetch-Site", "same-origin"}}), "same-origin");
    EXPECT_EQ(sent("Origin",
                   {{"Origin", "http://mirror.test"}, {"Referer", "http://mirror.test/unknown"}}),
              "http://mirror.test")
        << "nobody knows whose page that is";
}

TEST_F(RequestRewriting, LeadsDestinationsToTheOrigin) {  // RFC 4918 §10.3
    const auto led = [this](std::string_view to) {
        return sent("Destination", {{"Destination", std::string(to)}});
    };
    EXPECT_EQ(led("http://mirror.test/shop/b%20c"), "https://shop.test/app/b%20c");
    EXPECT_EQ(led("/shop/b"), "https://shop.test/app/b");
    EXPECT_EQ(led("/shop/pay/b"), "https://shop.test/pay/b");
    EXPECT_EQ(led("http://mirror.test/evil/b"), "https://evil.test/b");
    for (const auto* to : {"/else", "https://elsewhere.test/x"}) EXPECT_EQ(led(to), to);
}

TEST_F(RequestRewriting, GivesThePartyItsOwnCookies) {
    const auto own = mark("shop.test"), other = mark("evil.test");
    const auto cookies = [this](const std::string& text) {
        return sent("Cookie", {{"Cookie", text}});
    };
    EXPECT_EQ(cookies("a=1; b" + own + "=2; c" + other + "=3;d=~m;e~m0=4"),
              "a=1; b=2; d=~m; e~m0=4");
    EXPECT_EQ(cookies("c" + other + "=3"), "(none)");
    EXPECT_EQ(cookies("a=1;  b=2;"), "a=1;  b=2;") << "as it came";
    EXPECT_EQ(sent("Cookie", {{"Cookie", "b" + own + "=2"}}, "http://mirror.test/shop/pay/1"),
              "b=2")
        << "another mirror of the same party";
}

TEST_F(RequestRewriting, KnowsRedirectsThatLeadToAnotherPartyAtTheSameHost) {
    CacheKey own;
    own.assign_url("http://mirror.test/shop/cart");
    const auto led = [&](std::string_view location) {
        return location_of_other_party(all, *all.find(own), own, location).value_or("(as it is)");
    };
    EXPECT_EQ(led("http://mirror.test/evil/x?y#z"), "https://evil.test/x?y#z");
    for (const auto* location :
         {"http://mirror.test/shop/x", "http://mirror.test/shop/pay/x", "http://wiki.test/x",
          "http://mirror.test/unknown", "https://evil.test/x", "/evil/x"})
        EXPECT_EQ(led(location), "(as it is)") << location;
}

}  // namespace request_rewrite_test
}  // namespace proxy
