#include "proxy/fetch/known_renewals.hpp"

#include <gtest/gtest.h>

#include "tests/proxy/hash.hpp"

namespace proxy {
namespace known_renewals_test {

using namespace std::chrono_literals;

constexpr KnownRenewals::Time kNow{1000s};
constexpr std::uint64_t kWall = 1'800'000'000'000;
const summary::KeyHash kKey = test::hash("http://h/");

protocol::Renewals told(std::uint64_t sent_ms, std::uint32_t age_ms = 0) {
    return {sent_ms, {{kKey, 7, 1, 0, age_ms}}};
}

TEST(KnownRenewals, CountTheAgeAndTheTimeOnTheWay) {
    KnownRenewals known;
    EXPECT_FALSE(known.of(kKey));
    known.note("b", told(kWall - 500, 3000), kWall, kNow);
    ASSERT_TRUE(known.of(kKey));
    EXPECT_EQ(known.of(kKey)->node, "b");
    EXPECT_EQ(known.of(kKey)->confirmed, kNow - 3500ms);
    EXPECT_EQ(known.of(kKey)->what.version, 7u);
}

TEST(KnownRenewals, ShowWhatAHeadHasOutdated) {
    KnownRenewals known;
    EXPECT_FALSE(known.shows_outdated(kKey, kNow));
    known.outdated(kKey, kNow);
    EXPECT_TRUE(known.shows_outdated(kKey, kNow - 1s));
    EXPECT_FALSE(known.shows_outdated(kKey, kNow + 1s)) << "stored after the HEAD";
    known.note("b", told(kWall), kWall, kNow + 2s);
    EXPECT_FALSE(known.shows_outdated(kKey, kNow - 1s)) << "b has the news";
}

TEST(KnownRenewals, SayOnlyWhomToAskWhereClocksDifferOrTheMessageIsLate) {
    for (const auto sent : {kWall - 2001, kWall + 2001, std::uint64_t{0}, ~std::uint64_t{0}}) {
        KnownRenewals known;
        known.note("b", told(sent), kWall, kNow);
        ASSERT_TRUE(known.of(kKey)) << sent;
        EXPECT_EQ(known.of(kKey)->what.version, 0u) << sent;
    }
}

TEST(KnownRenewals, KeepTheNewest) {
    KnownRenewals known;
    known.note("b", told(kWall, 1000), kWall, kNow);
    known.note("c", told(kWall, 2000), kWall, kNow);
    EXPECT_EQ(known.of(kKey)->node, "b");
    known.note("c", told(kWall, 500), kWall, kNow);
    EXPECT_EQ(known.of(kKey)->node, "c");
}

TEST(KnownRenewals, EndWhereAHeadShowsThatCopiesAreOutdated) {
    KnownRenewals known;
    known.note("b", told(kWall), kWall, kNow);
    known.outdated(kKey, kNow + 1s);
    EXPECT_FALSE(known.of(kKey));
    known.note("b", told(kWall), kWall, kNow + 500ms);
    EXPECT_FALSE(known.of(kKey)) << "it is from before";
    known.note("b", told(kWall), kWall, kNow + 2s);
    EXPECT_TRUE(known.of(kKey));
}

TEST(KnownRenewals, AreBounded) {
    KnownRenewals known;
    for (std::uint64_t i = 0; i <= KnownRenewals::kMost; ++i) {
        auto one = told(kWall);
        one.list[0].key = {i, i};
        known.note("b", one, kWall, kNow);
    }
    EXPECT_FALSE(known.of({0, 0}));
    EXPECT_TRUE(known.of({1, 1}));
}

}  // namespace known_renewals_test
}  // namespace proxy
