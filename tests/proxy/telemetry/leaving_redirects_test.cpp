#include "proxy/telemetry/leaving_redirects.hpp"

#include <gtest/gtest.h>

namespace proxy {
namespace leaving_redirects_test {

using namespace std::chrono_literals;
using Hours = std::vector<LeavingRedirect>;

constexpr LeavingRedirects::Time kNow{600s};

TEST(LeavingRedirects, CountBySiteAndHost) {
    LeavingRedirects redirects;
    EXPECT_EQ(redirects.counts(kNow).last_hour, Hours{});
    for (int i = 0; i < 3; ++i) redirects.note("a.test", "cdn.test", kNow);
    redirects.note("a.test", "cdn.test:8443", kNow);
    redirects.note("b.test", "cdn.test", kNow);
    const auto counts = redirects.counts(kNow);
    EXPECT_EQ(counts.last_hour, (Hours{{"a.test", "cdn.test", 3},
                                       {"a.test", "cdn.test:8443", 1},
                                       {"b.test", "cdn.test", 1}}));
    EXPECT_EQ(counts.total.at("a.test"), 4u);
    EXPECT_EQ(counts.total.at("b.test"), 1u);
    EXPECT_EQ(leaving_text(counts.last_hour[0]),
              "the origin of a.test redirects clients to cdn.test past the cache: 3 in "
              "the last hour");
}

TEST(LeavingRedirects, ForgetWhatIsOlderThanAnHour) {
    LeavingRedirects redirects;
    for (int step = 0; step < 8; ++step) redirects.note("a", "h", kNow + step * 10min);
    const auto at = [&](auto age) { return redirects.counts(kNow + age).last_hour; };
    EXPECT_EQ(at(70min), (Hours{{"a", "h", 6}})) << "six steps of ten minutes";
    EXPECT_EQ(at(119min), (Hours{{"a", "h", 2}}));
    EXPECT_EQ(at(130min), Hours{});
    EXPECT_EQ(redirects.counts(kNow + 24h).total.at("a"), 8u) << "a counter never falls";
}

TEST(LeavingRedirects, ReplaceThePairThatWasSeenLeastRecently) {
    LeavingRedirects redirects;
    const auto host = [](std::size_t i) { return "h" + std::to_string(i); };
    for (std::size_t i = 0; i < LeavingRedirects::kMaxPairs; ++i)
        redirects.note("a", host(i), kNow + std::chrono::seconds(i));
    redirects.note("a", host(0), kNow + 1min);
    redirects.note("a", "new", kNow + 2min);
    const auto counts = redirects.counts(kNow + 2min);
    EXPECT_EQ(counts.last_hour.size(), LeavingRedirects::kMaxPairs);
    const auto has = [&](const std::string& name) {
        return std::ranges::count(counts.last_hour, name, &LeavingRedirect::host) == 1;
    };
    EXPECT_TRUE(has("new") && has("h0") && has("h2"));
    EXPECT_FALSE(has("h1"));
    EXPECT_EQ(counts.total.at("a"), LeavingRedirects::kMaxPairs + 2);
}

TEST(LeavingRedirects, KeepABoundedNumberOfSites) {
    LeavingRedirects redirects;
    for (std::size_t i = 0; i < LeavingRedirects::kMaxSites + 10; ++i)
        redirects.note("s" + std::to_string(i), "h", kNow);
    const auto total = redirects.counts(kNow).total;
    EXPECT_EQ(total.size(), LeavingRedirects::kMaxSites + 1);
    EXPECT_EQ(total.at("other"), 10u);
}

TEST(LeavingRedirects, OfWorkersAddUp) {
    LeavingRedirects one, two;
    one.note("a", "few", kNow);
    one.note("a", "many", kNow);
    for (int i = 0; i < 2; ++i) two.note("a", "many", kNow);
    auto sum = one.counts(kNow);
    sum += two.counts(kNow);
    EXPECT_EQ(sum.last_hour, (Hours{{"a", "many", 3}, {"a", "few", 1}}));
    EXPECT_EQ(sum.total.at("a"), 4u);
}

TEST(LeavingRedirects, ShowHostsWithoutOddCharacters) {
    EXPECT_EQ(shown_host("cdn-1.a_b.test:8443"), "cdn-1.a_b.test:8443");
    EXPECT_EQ(shown_host("[2001:db8::1]:80"), "[2001:db8::1]:80");
    EXPECT_EQ(shown_host("a<b>\x1b\xc3\xa4;'"), "a?b??????");
    EXPECT_EQ(shown_host(std::string(300, 'a')), std::string(255, 'a'));
}

}  // namespace leaving_redirects_test
}  // namespace proxy
