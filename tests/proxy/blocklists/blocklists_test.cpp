#include "proxy/blocklists/blocklists.hpp"

#include <gmock/gmock.h>

#include <cmath>

#include "tests/proxy/blocklists/blocklist_kit.hpp"

namespace proxy {
namespace blocklists_test {

/// The judgement of lists about URLs. Lists are named by their first letter in the tests.
class BlocklistsTest : public testing::Test, protected test::ListFolder {
protected:
    /// `refused d:3`, `logged d:3`, or `-`: name and line of the list.
    static std::string judged(const Blocklists& lists, std::string_view host,
                              std::optional<std::string_view> path = "/") {
        const auto found = lists.find(host, path);
        const auto& entry = found.refused ? found.refused : found.logged;
        if (!entry) return "-";
        const auto name =
            std::filesystem::path(lists.lists()[entry->list].config.path).filename().string();
        return (found.refused ? "refused " : "logged ") + name + ':' + std::to_string(entry->line);
    }
};

TEST_F(BlocklistsTest, RefuseADomainWithAllNamesBelowIt) {
    add("d", kDomains, "# published\nexample.com\n.dot.example\n");
    const auto lists = read();
    for (const auto* host : {"example.com", "www.example.com", "a.b.c.example.com"})
        EXPECT_EQ(judged(*lists, host), "refused d:2") << host;
    EXPECT_EQ(judged(*lists, "www.dot.example"), "refused d:3");
    for (const auto* host :
         {"example.org", "notexample.com", "com", "example.com.example.org", "example", ""})
        EXPECT_EQ(judged(*lists, host), "-") << host;
}

TEST_F(BlocklistsTest, RefuseOnlyTheHostOfAHostsFile) {
    add("h", kHosts, "127.0.0.1 localhost\n0.0.0.0 ads.example\n");
    const auto lists = read();
    EXPECT_EQ(judged(*lists, "ads.example"), "refused h:2");
    EXPECT_EQ(judged(*lists, "www.ads.example"), "-");
    EXPECT_EQ(judged(*lists, "localhost"), "-");
}

TEST_F(BlocklistsTest, ReadSquidsDstdomainAsSquidDoes) {
    add("s", kDstdomain, "host.example\n.domain.example\n");
    const auto lists = read();
    EXPECT_EQ(judged(*lists, "host.example"), "refused s:1");
    EXPECT_EQ(judged(*lists, "www.host.example"), "-");
    EXPECT_EQ(judged(*lists, "domain.example"), "refused s:2");
    EXPECT_EQ(judged(*lists, "www.domain.example"), "refused s:2");
}

TEST_F(BlocklistsTest, RefuseTheBeginOfAPathUpToABoundary) {
    add("u", kUrls, "example.com/bad\nexample.com/q?a=1\nwhole.example/\n");
    const auto lists = read();
    for (const auto* path : {"/bad", "/bad/", "/bad/page.html", "/bad?x", "/bad&x", "/bad=x",
                             "//bad", "/x/../bad", "/BAD", "/%62%61%64"})
        EXPECT_EQ(judged(*lists, "example.com", path), "refused u:1") << path;
    EXPECT_EQ(judged(*lists, "www.example.com", "/bad"), "refused u:1");
    EXPECT_EQ(judged(*lists, "example.com", "/q?a=1&b=2"), "refused u:2");
    for (const auto* path : {"/", "/good", "/badly", "/x/bad", "/q?a=12", "/?/bad"})
        EXPECT_EQ(judged(*lists, "example.com", path), "-") << path;
    EXPECT_EQ(judged(*lists, "www.whole.example", "/any"), "refused u:3");
}

TEST_F(BlocklistsTest, ApplyNoPathWhereNoneIsKnown) {
    add("u", kUrls, "example.com/bad\nwhole.example\n");
    const auto lists = read();
    EXPECT_EQ(judged(*lists, "example.com", std::nullopt), "-");
    EXPECT_EQ(judged(*lists, "www.whole.example", std::nullopt), "refused u:2");
}

TEST_F(BlocklistsTest, FindTheDeepestEntryBehindTheDeepestPath) {
    std::string deep;
    for (std::size_t i = 0; i < kMaxLabels / 2; ++i) deep += "/a";
    add("u", kUrls, "example.com" + deep + "\n");
    const auto lists = read();
    std::string longer = deep;
    for (int i = 0; i < 5000; ++i) longer += "/a";
    EXPECT_EQ(judged(*lists, "example.com", longer), "refused u:1");
    EXPECT_EQ(judged(*lists, "example.com", deep.substr(2)), "-");
    EXPECT_LE(lists->find("example.com", longer.substr(0, 100) + "b" + longer.substr(100)).queries,
              67u);
}

TEST_F(BlocklistsTest, CannotBeEvadedBySpelling) {
    add("d", kDomains, "example.com\nxn--bcher-kva.example\n10.1.2.3\n\n[2001:db8::2]\n");
    const auto lists = read();
    for (const auto* host : {"EXAMPLE.com", "example.com.", "www.example.com.", "ex%61mple.com",
                             "www%2eexample.com", "WWW.EXAMPLE.COM"})
        EXPECT_EQ(judged(*lists, host), "refused d:1") << host;
    EXPECT_EQ(judged(*lists, "b%C3%BCcher.example"), "refused d:2");
    EXPECT_EQ(judged(*lists, "[::ffff:10.1.2.3]"), "refused d:3");
    for (const auto* host :
         {"10.1.2.3.", "10.66051", "0x0a010203", "[64:ff9b::a01:203]", "[64:ff9b:1::a01:203]",
          "[64:ff9b:1:a01:2:300::]", "[2002:a01:203::9]", "[2001:0:808:808::f5fe:fdfc]"})
        EXPECT_EQ(judged(*lists, host), "refused d:3") << host;
    EXPECT_EQ(judged(*lists, "[2001:DB8:0::2]"), "refused d:5");
}

TEST_F(BlocklistsTest, TakeNoAddressForADomain) {
    add("d", kDomains, "2.3\n3.4.5\n");
    const auto lists = read();
    EXPECT_EQ(judged(*lists, "10.1.2.3"), "-");
    EXPECT_EQ(judged(*lists, "2.3.4.5"), "-");
}

TEST_F(BlocklistsTest, RefuseBeforeTheyLog) {
    add("l", kDomains, "example.com\nlogged.example\n", BlocklistAction::log);
    add("d", kDomains, "com\nexample.com\n");
    const auto lists = read();
    EXPECT_EQ(judged(*lists, "example.com"), "refused d:2");
    EXPECT_EQ(judged(*lists, "www.example.com"), "refused d:2");
    EXPECT_EQ(judged(*lists, "logged.example"), "logged l:2");
    EXPECT_EQ(judged(*lists, "other.com"), "refused d:1");
    EXPECT_EQ(lists->place(*lists->find("other.com", "/").refused), path("d") + ", line 1");
}

TEST_F(BlocklistsTest, GoOnToARefusalAboveANameThatIsOnlyLogged) {
    add("l", kDomains, "www.example.com\n", BlocklistAction::log);
    add("d", kDomains, "example.com\n");
    EXPECT_EQ(judged(*read(), "www.example.com"), "refused d:1");
}

TEST_F(BlocklistsTest, ReportTheFirstOfEqualEntries) {
    add("a", kDomains, "other.example\nexample.com\nexample.com\n");
    add("b", kDomains, "example.com\n");
    EXPECT_EQ(judged(*read(), "example.com"), "refused a:2");
}

TEST_F(BlocklistsTest, CountTheFilterAgainstItsFormula) {
    std::string text;
    for (int i = 0; i < 20'000; ++i) text += "listed" + std::to_string(i) + ".example\n";
    add("d", kDomains, text);
    const auto lists = read();
    ListedTarget sum;
    const auto ask = [&](const std::string& host) {
        const auto found = lists->find(host, "/");
        sum.queries += found.queries;
        sum.positives += found.positives;
        sum.confirmed += found.confirmed;
        return found.refused.has_value();
    };
    constexpr std::uint32_t kAsked = 200'000;
    for (std::uint32_t i = 0; i < kAsked; ++i)
        ASSERT_FALSE(ask("other" + std::to_string(i) + ".example"));
    EXPECT_EQ(sum.queries, kAsked) << "no entry has one label, so none is asked for";
    EXPECT_EQ(sum.confirmed, 0u);
    const auto expected = kAsked * Blocklists::error();
    EXPECT_NEAR(sum.positives, expected, 5 * std::sqrt(expected));
    sum = {};
    for (int i = 0; i < 20'000; ++i)
        ASSERT_TRUE(ask("www.listed" + std::to_string(i) + ".example"));
    EXPECT_EQ(sum.confirmed, 20'000u);
}

TEST_F(BlocklistsTest, AskForEachNameAboveAHostAtMost) {
    add("d", kDomains, "example\n");
    const auto lists = read();
    std::string host = "a";
    while (host.size() < 253) host += ".a";
    EXPECT_EQ(lists->find(host, "/").queries, 127u);
    EXPECT_EQ(lists->find("10.1.2.3", "/").queries, 1u);
}

/// Nobody can prepare names that the filter takes for others.
TEST_F(BlocklistsTest, HaveASecretOfTheirOwn) {
    add("d", kDomains, "example.com\n");
    const auto one = read(), other = read();
    auto differs = false;
    for (int i = 0; i < 400'000 && !differs; ++i) {
        const auto host = "other" + std::to_string(i) + ".example";
        differs = one->find(host, "/").positives != other->find(host, "/").positives;
    }
    EXPECT_TRUE(differs);
}

}  // namespace blocklists_test
}  // namespace proxy
