#include "proxy/blocklists/list_line.hpp"

#include <gmock/gmock.h>

namespace proxy {
namespace list_line_test {

using testing::ElementsAre;
using testing::IsEmpty;

/// Entries as `domain example.com`; or the reason why there is none.
std::vector<std::string> read(BlocklistFormat format, std::string_view text) {
    ListLine line;
    const auto result = line.read(format, text);
    if (result == ListLine::Result::malformed) return {"malformed: " + std::string(line.why())};
    std::vector<std::string> out;
    constexpr std::array<const char*, 4> kKinds{"domain ", "host ", "url ", "url_host "};
    for (const auto& entry : line.entries())
        out.push_back(kKinds.at(static_cast<std::size_t>(entry.kind)) + std::string(entry.text));
    EXPECT_EQ(out.empty(), result == ListLine::Result::nothing) << text;
    return out;
}
std::vector<std::string> hosts(std::string_view text) {
    return read(BlocklistFormat::hosts, text);
}
std::vector<std::string> domains(std::string_view text) {
    return read(BlocklistFormat::domains, text);
}
std::vector<std::string> dstdomain(std::string_view text) {
    return read(BlocklistFormat::dstdomain, text);
}
std::vector<std::string> urls(std::string_view text) {
    return read(BlocklistFormat::urls, text);
}

MATCHER(IsMalformed, "") {
    return arg.size() == 1 && arg.front().starts_with("malformed: ");
}

TEST(ListLine, SkipsEmptyLinesAndComments) {
    for (const auto format : {BlocklistFormat::hosts, BlocklistFormat::domains,
                              BlocklistFormat::dstdomain, BlocklistFormat::urls})
        for (const auto* text :
             {"", " ", "\t\r", "# comment", "  # comment", "#listcategory: \"x\""})
            EXPECT_THAT(read(format, text), IsEmpty()) << text;
}

TEST(ListLine, ReadsHostsFilesAsPublished) {  // StevenBlack/hosts
    EXPECT_THAT(hosts("0.0.0.0 ads.example"), ElementsAre("host ads.example"));
    EXPECT_THAT(hosts("127.0.0.1\tADS.Example. # why\r"), ElementsAre("host ads.example"));
    EXPECT_THAT(hosts("0.0.0.0 a.example b.example"),
                ElementsAre("host a.example", "host b.example"));
    EXPECT_THAT(hosts(":: a.example"), ElementsAre("host a.example"));
    EXPECT_THAT(hosts("0.0.0.0 bücher.example Ä.example"),
                ElementsAre("host xn--bcher-kva.example", "host xn--4ca.example"));
}

TEST(ListLine, LeavesOutTheMachinesOwnNames) {
    for (const auto* text : {"127.0.0.1 localhost", "127.0.0.1 localhost.localdomain",
                             "127.0.0.1 local", "255.255.255.255 broadcasthost", "::1 ip6-loopback",
                             "fe80::1%lo0 localhost", "ff02::1 ip6-allnodes", "0.0.0.0 0.0.0.0"})
        EXPECT_THAT(hosts(text), IsEmpty()) << text;
    EXPECT_THAT(hosts("127.0.0.1 localhost ads.example"), ElementsAre("host ads.example"));
}

TEST(ListLine, RefusesHostsThatLeadSomewhere) {
    for (const auto* text : {"192.168.1.5 nas.example", "10.0.0.1 localhost x.example",
                             "ads.example", "ads.example other.example", "0.0.0.0", "0.0.0.0 a..b",
                             "0.0.0.0 http://x/", "0.0.0.0 a.example b/c"})
        EXPECT_THAT(hosts(text), IsMalformed()) << text;
}

TEST(ListLine, ReadsDomains) {  // UT1, squidGuard, e2guardian
    EXPECT_THAT(domains("Example.com"), ElementsAre("domain example.com"));
    EXPECT_THAT(domains(".example.com"), ElementsAre("domain example.com"));
    EXPECT_THAT(domains("ru"), ElementsAre("domain ru"));
    EXPECT_THAT(domains("  example.com  # why"), ElementsAre("domain example.com"));
    EXPECT_THAT(domains("10.1.2.3"), ElementsAre("domain 10.1.2.3"));
    EXPECT_THAT(domains("[2001:DB8::1]"), ElementsAre("domain 2001:db8::1"));
    EXPECT_THAT(domains("2001:DB8::1"), ElementsAre("domain 2001:db8::1"));
    for (const auto* text : {"a b", "example.com/path", "http://example.com", "exa mple.com",
                             "a..b", "*.example.com", "user@example.com", "example.com:80", "."})
        EXPECT_THAT(domains(text), IsMalformed()) << text;
}

TEST(ListLine, ReadsDomainsOfSquid) {
    EXPECT_THAT(dstdomain(".example.com"), ElementsAre("domain example.com"));
    EXPECT_THAT(dstdomain("example.com"), ElementsAre("host example.com"));
}

TEST(ListLine, ReadsUrls) {  // UT1, squidGuard, e2guardian
    EXPECT_THAT(urls("example.com/Bad/"),
                ElementsAre("url_host example.com", "url example.com/bad"));
    EXPECT_THAT(urls("HTTP://www.example.com:8080/a/../b?c=d#e"),
                ElementsAre("url_host www.example.com", "url www.example.com/b?c=d"));
    EXPECT_THAT(urls("bücher.example/ä"),
                ElementsAre("url_host xn--bcher-kva.example", "url xn--bcher-kva.example/ä"));
    EXPECT_THAT(urls("10.1.2.3/x"), ElementsAre("url_host 10.1.2.3", "url 10.1.2.3/x"));
    EXPECT_THAT(urls("[2001:db8::1]:80/x"),
                ElementsAre("url_host 2001:db8::1", "url 2001:db8::1/x"));
    for (const auto* whole : {"example.com", "example.com/", "https://example.com//"})
        EXPECT_THAT(urls(whole), ElementsAre("domain example.com")) << whole;
    for (const auto* text : {"/path", "http://", "user@example.com/x", "exa_mple .com/x",
                             "example.com:x/y", "ftp://example.com/x", "[::1/x"})
        EXPECT_THAT(urls(text), IsMalformed()) << text;
}

TEST(ListLine, BoundsLinesAndPaths) {
    EXPECT_THAT(domains(std::string(kMaxListLine + 1, 'a')), IsMalformed());
    std::string deep = "example.com";
    for (int i = 0; i < 64; ++i) deep += "/a";
    EXPECT_EQ(urls(deep).size(), 2u);
    EXPECT_THAT(urls(deep + "/a"), IsMalformed());
    std::string many = "0.0.0.0";
    while (many.size() + 20 < kMaxListLine) many += " \xc3\xbc.example";
    const auto names = hosts(many);
    EXPECT_GT(names.size(), 600u);
    EXPECT_EQ(names.front(), names.back()) << "texts stay where they are";
}

TEST(ListLine, CountsTheLabelsOfNames) {
    ListLine line;
    ASSERT_EQ(line.read(BlocklistFormat::urls, "a.b.example/c.d.e"), ListLine::Result::entries);
    for (const auto& entry : line.entries()) EXPECT_EQ(entry.labels, 3u);
    ASSERT_EQ(line.read(BlocklistFormat::domains, "10.1.2.3"), ListLine::Result::entries);
    EXPECT_EQ(line.entries().front().labels, kMaxLabels);
}

}  // namespace list_line_test
}  // namespace proxy
