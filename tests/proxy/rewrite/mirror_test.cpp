#include "proxy/rewrite/mirror.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace proxy {
namespace mirror_test {

std::optional<UrlPrefix> prefix(std::string_view url) {
    auto fault = PrefixFault::no_url;
    return parse_url_prefix(url, fault);
}

PrefixFault fault_of(std::string_view url) {
    auto fault = PrefixFault::no_url;
    EXPECT_FALSE(parse_url_prefix(url, fault)) << url;
    return fault;
}

Mirror mirror(std::string_view here, std::string_view origin, std::size_t entry = 0) {
    Mirror made;
    made.here = prefix(here).value();
    made.origin = prefix(origin).value();
    made.entry = entry;
    return made;
}

CacheKey key(std::string_view url) {
    CacheKey made;
    EXPECT_EQ(made.assign_url(url), TargetError::none) << url;
    return made;
}

TEST(UrlPrefix, IsReadInOneForm) {
    EXPECT_EQ(prefix("HTTP://Mirror.Test:80/PyPI/")->text(), "http://mirror.test/PyPI");
    EXPECT_EQ(prefix("https://mirror.test:8443")->text(), "https://mirror.test:8443");
    EXPECT_EQ(prefix("http://[::1]:3128/a/b")->text(), "http://[::1]:3128/a/b");
}

TEST(UrlPrefix, SaysWhatIsWrong) {
    EXPECT_EQ(fault_of("mirror.test/x"), PrefixFault::no_url);
    EXPECT_EQ(fault_of("ftp://mirror.test/x"), PrefixFault::no_url);
    EXPECT_EQ(fault_of("http://user@mirror.test/x"), PrefixFault::no_url);
    EXPECT_EQ(fault_of("http://mirror.test/x#y"), PrefixFault::no_url);
    EXPECT_EQ(fault_of("http://mirror.test/x?y"), PrefixFault::query);
    for (const auto* url : {"http://m/a/../b", "http://m/a/./b", "http://m//a", "http://m/a%2Fb",
                            "http://m/a*", "http://m/a;b", "http://m/\xc3\xa4"})
        EXPECT_EQ(fault_of(url), PrefixFault::path) << url;
}

TEST(UrlPrefix, CoversItselfAndAllBelow) {
    EXPECT_TRUE(covers_received_path("/a", "/a"));
    EXPECT_TRUE(covers_received_path("/a", "/a?x=/b"));
    EXPECT_TRUE(covers_received_path("/a", "/a/"));
    EXPECT_TRUE(covers_received_path("/a", "/a/b/../c"));
    EXPECT_TRUE(covers_received_path("", "/anything"));
    EXPECT_FALSE(covers_received_path("/a", "/ab"));
    EXPECT_FALSE(covers_received_path("", "*"));
}

TEST(UrlPrefix, CoversNoPathThatAnOriginReadsAsAnother) {
    for (const auto* path : {"/a/../b", "/a/%2e%2e/b", "/a/..", "/a/..%2fb", "/a/..;x/b",
                             "/a/..\\b", "/%61/x", "//a/x"})
        EXPECT_FALSE(covers_received_path("/a", path)) << path;
}

TEST(Mirror, PutsThePathOfTheOriginInPlaceOfItsOwn) {
    const auto deep = mirror("http://m/a", "https://o/x/y");
    EXPECT_EQ(deep.path_at_origin("/a/b?c=/a"), "/x/y/b?c=/a");
    EXPECT_EQ(deep.path_at_origin("/a"), "/x/y");
    EXPECT_EQ(deep.path_at_origin("/a?b"), "/x/y?b");
    EXPECT_EQ(deep.url_at_origin("/a/b"), "https://o/x/y/b");
    const auto flat = mirror("http://m/a", "https://o");
    EXPECT_EQ(flat.path_at_origin("/a"), "/");
    EXPECT_EQ(flat.path_at_origin("/a?b"), "/?b");
    EXPECT_EQ(flat.path_at_origin("/a/b"), "/b");
    EXPECT_EQ(mirror("http://m", "https://o/x").path_at_origin("/b"), "/x/b");
}

TEST(MirrorTable, FindsTheLongestPublicUrl) {
    const MirrorTable all(
        {mirror("http://m/a", "https://o", 0), mirror("http://m/a/b", "https://p", 1),
         mirror("http://m", "https://q", 2), mirror("https://m/a", "https://r", 3),
         mirror("http://m:81/a", "https://s", 4)});
    EXPECT_EQ(all.find(key("http://m/a/x"))->entry, 0u);
    EXPECT_EQ(all.find(key("http://m/a/b/x"))->entry, 1u);
    EXPECT_EQ(all.find(key("http://m/a/bx"))->entry, 0u);
    EXPECT_EQ(all.find(key("http://m/c"))->entry, 2u);
    EXPECT_EQ(all.find(key("https://m/a"))->entry, 3u);
    EXPECT_EQ(all.find(key("http://m:81/a"))->entry, 4u);
    EXPECT_EQ(all.find(key("https://m/c")), nullptr);
    EXPECT_EQ(all.find(key("http://n/a")), nullptr);
}

TEST(MirrorTable, HasAnAddressOnlyIfTheOriginIsAskedAsSafely) {
    auto named = mirror("http://m/n", "http://10.0.0.1:8080");
    named.other_names = {"intern"};
    const MirrorTable all({mirror("http://m/a", "https://o"), named});
    EXPECT_NE(all.find_address(Scheme::https, "o", "/"), nullptr);
    EXPECT_NE(all.find_address(Scheme::https, "o:443", "/"), nullptr);
    EXPECT_NE(all.find_address(Scheme::http, "o", "/"), nullptr);
    EXPECT_NE(all.find_address(Scheme::http, "10.0.0.1:8080", "/"), nullptr);
    EXPECT_NE(all.find_address(Scheme::http, "intern", "/"), nullptr);
    EXPECT_EQ(all.find_address(Scheme::https, "intern", "/"), nullptr);
    EXPECT_EQ(all.find_address(Scheme::https, "10.0.0.1:8080", "/"), nullptr);
    EXPECT_EQ(all.find_address(Scheme::http, "10.0.0.1", "/"), nullptr);
    EXPECT_EQ(all.find_address(Scheme::https, "o:80", "/"), nullptr);
}

TEST(MirrorTable, HasAHashOfItsMeaning) {
    const auto a = mirror("http://m/a", "https://o"), b = mirror("http://m/b", "https://p");
    const MirrorTable one({a, b}), other_order({b, a});
    EXPECT_EQ(one.hash(), other_order.hash());
    EXPECT_EQ(one.find(key("http://m/a"))->mark, other_order.find(key("http://m/a"))->mark);
    EXPECT_NE(one.find(key("http://m/a"))->mark, one.find(key("http://m/b"))->mark);
    auto with_links = b;
    with_links.links = true;
    const MirrorTable changed({a, with_links});
    EXPECT_NE(changed.hash(), one.hash());
    EXPECT_NE(changed.find(key("http://m/a"))->mark, one.find(key("http://m/a"))->mark)
        << "links to the other entry are in the bodies of this one";
    EXPECT_EQ(one.all().front().mark_text.size(), 8u);
}

}  // namespace mirror_test
}  // namespace proxy
