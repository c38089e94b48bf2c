// The effect of a peer's invalidations on a subscriber, and the times of its confirmations.

#include <gtest/gtest.h>

#include <chrono>
#include <optional>

#include "protocol/links/sync_session.hpp"
#include "tests/protocol/bytes.hpp"
#include "tests/protocol/some_hashes.hpp"
#include "tests/summary/bloom.hpp"

namespace protocol::test {
namespace sync_session_invalidations_test {

using namespace std::chrono_literals;

const SyncSession::TimePoint kNow{100s};

TEST(SyncSessionInvalidations, AreHandedOutOnceAndConfirmedEachTime) {
    SyncSession session({1 << 20, 500ms}, kNow);
    session.next(kNow);  // a heartbeat
    const Message order = Invalidate{2, some(1), some(1, 50)};
    EXPECT_EQ(session.on_message(order, kNow),
              SyncSession::Action(SyncSession::Drop{some(1), some(1, 50)}));
    session.kept(2);
    EXPECT_EQ(session.next(kNow), Message(Confirm{2}));
    EXPECT_EQ(session.next(kNow), std::nullopt);
    EXPECT_EQ(session.on_message(order, kNow), std::nullopt) << "the confirmation was lost";
    EXPECT_EQ(session.next(kNow), Message(Confirm{2}));
    EXPECT_EQ(session.counters().invalidations_received, 2U);
}

TEST(SyncSessionInvalidations, AreConfirmedWhenTheyAreKept) {
    SyncSession session({1 << 20, 500ms}, kNow);
    session.next(kNow);  // a heartbeat
    ASSERT_TRUE(session.on_message(Invalidate{2, some(1), some(1, 50)}, kNow));
    ASSERT_TRUE(session.on_message(Invalidate{3, some(1, 9), {}}, kNow));
    EXPECT_EQ(session.applied(), 3U);
    EXPECT_EQ(session.next(kNow), std::nullopt);
    EXPECT_GT(session.due(), kNow);
    session.kept(2);
    EXPECT_EQ(session.due(), SyncSession::TimePoint::min());
    EXPECT_EQ(session.next(kNow), Message(Confirm{2}));
    EXPECT_EQ(session.next(kNow), std::nullopt);
    session.kept(3);
    EXPECT_EQ(session.next(kNow), Message(Confirm{3}));
}

TEST(SyncSessionInvalidations, OverAnotherConnectionAreConfirmedWhenItHasNamedThem) {
    SyncSession session({1 << 20, 500ms}, kNow, 5, 3);
    session.next(kNow);  // a heartbeat
    session.kept(5);
    EXPECT_EQ(session.next(kNow), std::nullopt) << "the publisher may not know that it sent them";
    EXPECT_EQ(session.on_message(Invalidate{4, some(2), {}}, kNow), std::nullopt);
    EXPECT_EQ(session.next(kNow), Message(Confirm{4}));
    EXPECT_EQ(session.on_message(Invalidate{5, some(1), {}}, kNow), std::nullopt);
    EXPECT_EQ(session.next(kNow), Message(Confirm{5}));
}

TEST(SyncSessionInvalidations, GoOnFromWhatAnEarlierConnectionApplied) {
    SyncSession session({1 << 20, 500ms}, kNow, 5, 5);
    EXPECT_EQ(session.on_message(Invalidate{5, some(2), {}}, kNow), std::nullopt);
    EXPECT_EQ(session.next(kNow), Message(Confirm{5}));
    EXPECT_EQ(session.on_message(InvalidateAll{9}, kNow),
              SyncSession::Action(SyncSession::Drop{{}, {}, true}));
    session.kept(9);
    EXPECT_EQ(session.next(kNow), Message(Confirm{9}));
}

TEST(SyncSessionInvalidations, ComeInTheMiddleOfASnapshotToo) {
    SyncSession session({1 << 20, 500ms}, kNow);
    const auto payload = unhex("0302058704");
    session.on_message(SnapshotBegin{7, 5, 9, bloom({128, 4}), payload.size()}, kNow);
    EXPECT_EQ(session.on_message(Invalidate{1, some(1), {}}, kNow),
              SyncSession::Action(SyncSession::Drop{some(1), {}}));
    EXPECT_EQ(session.on_message(SnapshotPart{payload}, kNow),
              SyncSession::Action(SyncSession::Load{}));
}

TEST(SyncSessionInvalidations, AreConfirmedByTheSubscriberAlone) {
    SyncSession session({1 << 20, 500ms}, kNow);
    EXPECT_EQ(session.on_message(Confirm{1}, kNow),
              SyncSession::Action(SyncSession::Close{Error::unexpected_frame}));
}

}  // namespace sync_session_invalidations_test
}  // namespace protocol::test
