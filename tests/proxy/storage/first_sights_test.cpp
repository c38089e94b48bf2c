#include "proxy/storage/first_sights.hpp"

#include <gtest/gtest.h>

#include <string>

#include "tests/proxy/hash.hpp"
#include "tests/proxy/http/head.hpp"

namespace proxy {
namespace first_sights_test {

using namespace std::chrono_literals;
using test::Head;

constexpr WallTime kNow = std::chrono::sys_days(2026y / 11 / 20) + 12h;

class FirstSightsTest : public ::testing::Test {
protected:
    FirstSightsTest() { rule.min_age = 24h; }

    std::optional<WallTime> note(std::string_view uri, const char* head, WallTime now,
                                 std::optional<WallTime> had = {}) {
        const Head fields(head);
        return sights.note({rule, uri, 200, fields}, had.value_or(now), now);
    }
    std::optional<WallTime> find(std::string_view uri, const char* head) const {
        const Head fields(head);
        return sights.find({rule, uri, 200, fields}, kNow);
    }

    Rule rule;
    const summary::KeyHasher& hasher = test::hasher();
    FirstSights sights{hasher};
};

TEST_F(FirstSightsTest, KeepTheFirstTime) {
    EXPECT_EQ(note("http://h/a", "ETag: \"1\"", kNow), kNow);
    EXPECT_EQ(note("http://h/a", "ETag: \"1\"", kNow + 9h), kNow);
    EXPECT_EQ(note("http://h/a", "ETag: \"1\"", kNow + 9h, kNow - 1h), kNow - 1h)
        << "it was stored here before";
    EXPECT_EQ(find("http://h/a", "ETag: \"1\""), kNow - 1h);
}

TEST_F(FirstSightsTest, AnotherUrlOrTagBeginsAnew) {
    note("http://h/a", "ETag: \"1\"", kNow);
    EXPECT_EQ(note("http://h/b", "ETag: \"1\"", kNow + 1h), kNow + 1h);
    EXPECT_EQ(note("http://h/a", "ETag: \"2\"", kNow + 2h), kNow + 2h);
    EXPECT_EQ(note("http://h/a", "ETag: \"1\"", kNow + 3h), kNow);
    EXPECT_FALSE(find("http://h/c", "ETag: \"1\""));
}

TEST_F(FirstSightsTest, CountForContentWithATagAndWithoutLastModified) {
    EXPECT_FALSE(note("http://h/a", "Date: x", kNow));
    EXPECT_FALSE(note("http://h/a", "ETag: \"1\"\nETag: \"2\"", kNow));
    EXPECT_FALSE(
        note("http://h/a", "ETag: \"1\"\nLast-Modified: Thu, 01 Jan 2015 00:00:00 GMT", kNow));
    EXPECT_EQ(sights.changes(), 0u);
}

TEST_F(FirstSightsTest, AClockThatIsUnsetMakesNothingOld) {
    const auto before = FirstSights::kEarliest - 1s;
    EXPECT_FALSE(note("http://h/a", "ETag: \"1\"", before));
    EXPECT_EQ(note("http://h/a", "ETag: \"1\"", kNow, before), kNow);
    EXPECT_EQ(note("http://h/b", "ETag: \"1\"", kNow, kNow + 24h), kNow) << "nor a future time";
}

TEST_F(FirstSightsTest, LearnTheOlderTimeFromAPeer) {
    note("http://h/a", "ETag: \"1\"", kNow);
    const auto learn = [&](const std::string& stated) {
        const auto text = "ETag: \"1\"\nHearsay-First-Seen: " + stated;
        const Head fields(text.c_str());
        sights.learn({rule, "http://h/a", 200, fields}, kNow);
        return find("http://h/a", "ETag: \"1\"");
    };
    EXPECT_EQ(learn(std::to_string((kNow + 1h).time_since_epoch().count())), kNow);
    for (const auto* bad : {"", "1", "-1", "yesterday", "99999999999999999999", "17e8"})
        EXPECT_EQ(learn(bad), kNow) << bad;
    EXPECT_EQ(learn(std::to_string((kNow - 48h).time_since_epoch().count())), kNow - 48h);
}

TEST_F(FirstSightsTest, AFloodOfUrlsLeavesWhatIsInUse) {
    for (int i = 0; i < 1000; ++i)
        note("http://h/used/" + std::to_string(i), "ETag: \"1\"", kNow - 48h);
    for (int i = 0; i < 1000; ++i)
        note("http://h/used/" + std::to_string(i), "ETag: \"1\"", kNow - 24h);
    for (std::size_t i = 0; i < 2 * FirstSights::kMost; ++i)
        note("http://h/junk/" + std::to_string(i), "ETag: \"1\"", kNow);
    EXPECT_LE(sights.all().size(), FirstSights::kMost);
    for (int i = 0; i < 1000; ++i)
        EXPECT_EQ(find("http://h/used/" + std::to_string(i), "ETag: \"1\""), kNow - 48h) << i;
}

TEST_F(FirstSightsTest, AreRestoredWithoutBecomingOlder) {
    note("http://h/a", "ETag: \"1\"", kNow - 24h);
    note("http://h/b", "ETag: \"1\"", kNow + 24h);
    FirstSights later{hasher};
    later.restore(sights.all(), kNow);
    const Head fields("ETag: \"1\"");
    EXPECT_EQ(later.find({rule, "http://h/a", 200, fields}, kNow), kNow - 24h);
    EXPECT_EQ(later.find({rule, "http://h/b", 200, fields}, kNow), kNow);
    const FirstSights::Sight unset[] = {{{1, 2}, FirstSights::kEarliest - 1s, kNow}};
    later.restore(unset, kNow);
    EXPECT_EQ(later.all().size(), 2u);
}

}  // namespace first_sights_test
}  // namespace proxy
