#include "protocol/publishing/announcement_delay.hpp"

#include <gtest/gtest.h>

namespace protocol::test {
namespace announcement_delay_test {

using namespace std::chrono_literals;

const AnnouncementDelay::TimePoint kNow{100s};

AnnouncementDelay with(unsigned count, ChangeKind what, std::chrono::nanoseconds delay = 3s) {
    AnnouncementDelay out(delay);
    for (unsigned i = 0; i < count; ++i) out.changed(what, kNow);
    return out;
}

TEST(AnnouncementDelay, HasNothingAtFirstAndAfterAnAnnouncement) {
    AnnouncementDelay delay(3s);
    EXPECT_FALSE(delay.waits());
    delay.changed(ChangeKind::news, kNow);
    EXPECT_TRUE(delay.waits());
    EXPECT_EQ(delay.first(), kNow);
    delay.announced();
    EXPECT_FALSE(delay.waits());
}

TEST(AnnouncementDelay, ASinglePieceOfNewsWaitsForTheWholeDelay) {
    EXPECT_EQ(with(1, ChangeKind::news).due(), kNow + 3s);
}

TEST(AnnouncementDelay, NewsIsDueWhenItHasWaitedForTwiceTheDelayTogether) {
    EXPECT_EQ(with(2, ChangeKind::news).due(), kNow + 3s);
    EXPECT_EQ(with(4, ChangeKind::news).due(), kNow + 1500ms);
    auto delay = with(1, ChangeKind::news);
    delay.changed(ChangeKind::news, kNow + 1s);
    delay.changed(ChangeKind::news, kNow + 1s);
    delay.changed(ChangeKind::news, kNow + 1s);
    EXPECT_EQ(delay.due(), kNow + 2250ms);  // 6 s = 1 s + 4 * 1.25 s
}

TEST(AnnouncementDelay, NewsWaitsForAThirdOfTheDelayAtLeast) {
    EXPECT_EQ(with(6, ChangeKind::news).due(), kNow + 1s);
    EXPECT_EQ(with(1000, ChangeKind::news).due(), kNow + 1s);
}

TEST(AnnouncementDelay, LateNewsDoesNotPostponeTheFirst) {
    auto delay = with(1, ChangeKind::news);
    delay.changed(ChangeKind::news, kNow + 2900ms);
    EXPECT_EQ(delay.due(), kNow + 3s);
}

TEST(AnnouncementDelay, RemovalsWaitForTheDelayFromTheFirstOfThem) {
    auto delay = with(1000, ChangeKind::removal);
    delay.changed(ChangeKind::removal, kNow + 1s);
    EXPECT_EQ(delay.due(), kNow + 3s);
}

TEST(AnnouncementDelay, CopiesWaitFifteenTimesAsLong) {
    EXPECT_EQ(with(1000, ChangeKind::copy).due(), kNow + 45s);
    EXPECT_EQ(with(1, ChangeKind::copy, 10ms).due(), kNow + 150ms);
}

TEST(AnnouncementDelay, CopiesWaitAMinuteAtMostUnlessTheDelayIsLonger) {
    EXPECT_EQ(with(1, ChangeKind::copy, 20s).due(), kNow + 1min);
    EXPECT_EQ(with(1, ChangeKind::copy, 1h).due(), kNow + 1h);
}

TEST(AnnouncementDelay, OtherChangesGoAlongWithNews) {
    auto delay = with(1, ChangeKind::copy);
    delay.changed(ChangeKind::news, kNow + 2s);
    EXPECT_EQ(delay.due(), kNow + 5s);
    delay.changed(ChangeKind::removal, kNow + 2500ms);
    EXPECT_EQ(delay.due(), kNow + 5s);
}

TEST(AnnouncementDelay, NewsHurriesForAWhileAfterSomeThatCameTooLate) {
    auto delay = with(1, ChangeKind::news);
    delay.was_late(kNow + 3s);
    delay.announced();
    delay.changed(ChangeKind::removal, kNow + 4s);
    EXPECT_EQ(delay.due(), kNow + 7s);
    delay.changed(ChangeKind::news, kNow + 5s);
    EXPECT_EQ(delay.due(), kNow + 5s);
    delay.announced();
    const auto later = kNow + 3s + kHurry;
    delay.changed(ChangeKind::news, later);
    EXPECT_EQ(delay.due(), later + 3s);
}

TEST(AnnouncementDelay, ACenturyIsNoOverflow) {
    constexpr auto kCentury = std::chrono::hours(24 * 365 * 100);
    for (const auto what : {ChangeKind::news, ChangeKind::copy, ChangeKind::removal})
        EXPECT_EQ(with(1, what, kCentury).due(), kNow + kCentury);
}

}  // namespace announcement_delay_test
}  // namespace protocol::test
