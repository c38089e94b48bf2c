#include "protocol/publishing/outbox.hpp"

#include <gtest/gtest.h>

#include <string>

#include "protocol/wire/frame.hpp"
#include "tests/protocol/bytes.hpp"
#include "tests/summary/keys.hpp"

namespace protocol::test {
namespace outbox_test {

using namespace std::chrono_literals;
using summary::test::key;

const Outbox::TimePoint kNow{100s};

class OutboxTest : public ::testing::Test {
protected:
    OutboxTest() { outbox.emplace(Outbox::Config{1000, 500ms}, kNow); }

    Announcement announcement(std::uint64_t generation, std::size_t bytes = 10) const {
        return {7, generation, std::make_shared<const Bytes>(bytes, std::byte(generation)), {}};
    }
    std::optional<Message> next(Outbox::TimePoint now = kNow) {
        return outbox->next(publisher, now);
    }
    Heartbeat beat(std::chrono::milliseconds next = 500ms) const {
        auto message = publisher.heartbeat();
        message.next = next;
        return message;
    }
    /// Takes the messages up to the next that is not of a snapshot.
    std::optional<Message> after_snapshot() {
        auto message = next();
        EXPECT_TRUE(message && std::holds_alternative<SnapshotBegin>(*message));
        do message = next();
        while (message && std::holds_alternative<SnapshotPart>(*message));
        return message;
    }
    /// Nothing waits but a heartbeat in the future.
    void settle() {
        const auto beat = after_snapshot();
        ASSERT_TRUE(beat && std::holds_alternative<Heartbeat>(*beat));
        ASSERT_FALSE(next());
    }

    Publisher publisher{{}, kNow};
    std::optional<Outbox> outbox;
};

TEST_F(OutboxTest, BeginsWithASnapshotThenAHeartbeat) {
    const auto begin = next();
    ASSERT_TRUE(begin);
    EXPECT_EQ(*begin, Message(publisher.snapshot()->begin));
    const auto part = next();
    ASSERT_TRUE(part);
    EXPECT_EQ(*part, Message(SnapshotPart{publisher.snapshot()->payload}));
    EXPECT_EQ(next(), Message(beat()));
    EXPECT_EQ(next(), std::nullopt);
    EXPECT_EQ(outbox->counters().snapshots_sent, 1U);
    EXPECT_EQ(outbox->counters().announcements_sent, 1U);
}

TEST_F(OutboxTest, AnOfferBeforeTheSnapshotIsInTheSnapshot) {
    outbox->offer(announcement(1));
    outbox->offer(CheckHash{7, 1, 5});
    EXPECT_EQ(outbox->queued_bytes(), 0U);
    EXPECT_EQ(after_snapshot(), Message(beat()));
}

TEST_F(OutboxTest, AnnouncementsGoOutInOrderAheadOfHeartbeats) {
    settle();
    auto first = announcement(1);
    first.check = CheckHash{7, 1, 99};
    outbox->offer(first);
    outbox->offer(announcement(2));
    const auto late = kNow + 10s;
    EXPECT_EQ(next(late), Message(Delta{7, 1, *first.delta}));
    EXPECT_EQ(next(late), Message(CheckHash{7, 1, 99}));
    EXPECT_EQ(next(late), Message(Delta{7, 2, Bytes(10, std::byte{2})}));
    EXPECT_EQ(next(late), Message(beat()));
    EXPECT_EQ(next(late), std::nullopt);
    EXPECT_EQ(outbox->queued_bytes(), 0U);
}

TEST_F(OutboxTest, APayloadStaysGoodUntilTheNextCallThoughTheAnnouncementIsGone) {
    settle();
    outbox->offer(announcement(1, 300));
    const auto message = next();
    ASSERT_TRUE(message);
    EXPECT_EQ(std::get<Delta>(*message).payload.back(), std::byte{1});
}

TEST_F(OutboxTest, HeartbeatsComeWhenTheyAreDueAndNotBefore) {
    settle();
    EXPECT_EQ(outbox->due(), kNow + 500ms);
    EXPECT_EQ(next(kNow + 499ms), std::nullopt);
    EXPECT_EQ(next(kNow + 500ms), Message(beat()));
    EXPECT_EQ(next(kNow + 500ms), std::nullopt);
    EXPECT_EQ(outbox->due(), kNow + 1000ms);
    EXPECT_EQ(outbox->counters().heartbeats_sent, 2U);
}

TEST_F(OutboxTest, HeartbeatsComeAsSoonAsTheLastOnePromisedWhateverHasChanged) {
    settle();  // the next within 500 ms
    outbox->beat_every(2400ms);
    EXPECT_EQ(outbox->due(), kNow + 500ms);
    EXPECT_EQ(next(kNow + 500ms), Message(beat(2400ms)));
    const auto due = outbox->due();
    EXPECT_LE(due, kNow + 2900ms);
    EXPECT_GE(due, kNow + 1700ms) << "up to a turn of 1.2 s sooner";
    outbox->beat_every(100ms);
    EXPECT_EQ(next(due - 1ms), std::nullopt);
    EXPECT_EQ(next(due), Message(beat(100ms)));
    EXPECT_EQ(outbox->due(), due + 100ms);
}

TEST_F(OutboxTest, AnAnnouncementDoesNotWaitForADistantHeartbeat) {
    settle();
    outbox->beat_every(1min);
    EXPECT_EQ(next(kNow + 500ms), Message(beat(1min)));
    const auto news = announcement(1);
    outbox->offer(news);
    EXPECT_EQ(next(kNow + 501ms), Message(Delta{7, 1, *news.delta}));
}

TEST_F(OutboxTest, AnOverfullQueueBecomesOneSnapshot) {
    settle();
    std::uint64_t generation = 0;
    while (outbox->counters().overflows == 0) {
        outbox->offer(announcement(++generation, 100));
        ASSERT_LE(outbox->queued_bytes(), 1000U);
        ASSERT_LT(generation, 20U);
    }
    EXPECT_GT(generation, 2U);
    EXPECT_EQ(outbox->queued_bytes(), 0U);
    outbox->offer(announcement(generation + 1));  // in the snapshot
    EXPECT_EQ(after_snapshot(), std::nullopt);
    EXPECT_EQ(outbox->counters().overflows, 1U);
    EXPECT_EQ(outbox->counters().snapshots_sent, 2U);
}

TEST_F(OutboxTest, OneAnnouncementAboveTheLimitIsASnapshotToo) {
    settle();
    outbox->offer(announcement(1, 2000));
    EXPECT_EQ(outbox->queued_bytes(), 0U);
    EXPECT_EQ(after_snapshot(), std::nullopt);
}

TEST_F(OutboxTest, ManyCheckHashesAreBoundedAsWell) {
    settle();
    for (int i = 0; i < 1000; ++i) {
        outbox->offer(CheckHash{7, 0, 5});
        ASSERT_LE(outbox->queued_bytes(), 1000U);
    }
    EXPECT_GE(outbox->counters().overflows, 1U);
}

TEST_F(OutboxTest, AnAnnouncementWithoutADeltaIsASnapshotThatReplacesWhatWaits) {
    settle();
    outbox->offer(announcement(1));
    outbox->offer(Announcement{8, 0, nullptr, CheckHash{8, 0, 5}});
    EXPECT_EQ(after_snapshot(), std::nullopt);
}

TEST_F(OutboxTest, ARequestBringsASnapshot) {
    settle();
    outbox->want_snapshot();
    outbox->want_snapshot();
    EXPECT_EQ(after_snapshot(), std::nullopt);
    EXPECT_EQ(outbox->counters().snapshots_sent, 2U);
}

TEST_F(OutboxTest, ALargeSnapshotGoesOutInPartsOfTheLimit) {
    Publisher::Config large;
    large.summary.expected_objects = 200'000;
    publisher = Publisher(large, kNow);
    for (int i = 0; i < 100'000; ++i) publisher.stored(key(static_cast<std::uint64_t>(i)), kNow);
    const auto begin = next();
    const auto promised = std::get<SnapshotBegin>(*begin).payload_bytes;
    ASSERT_GT(promised, 2 * kSnapshotPartBytes);
    Bytes got;
    for (;;) {
        const auto message = next();
        ASSERT_TRUE(message);
        if (!std::holds_alternative<SnapshotPart>(*message)) break;
        const auto part = std::get<SnapshotPart>(*message).payload;
        EXPECT_LE(part.size(), kSnapshotPartBytes);
        got.insert(got.end(), part.begin(), part.end());
    }
    EXPECT_EQ(got.size(), promised);
    EXPECT_TRUE(got == publisher.snapshot()->payload);
}

TEST_F(OutboxTest, ASnapshotUnderWayIsFinishedBeforeTheNextBegins) {
    ASSERT_TRUE(std::holds_alternative<SnapshotBegin>(*next()));
    outbox->want_snapshot();
    EXPECT_TRUE(std::holds_alternative<SnapshotPart>(*next()));
    EXPECT_TRUE(std::holds_alternative<SnapshotBegin>(*next()));
}

TEST_F(OutboxTest, ASnapshotUnderWayIsThatOfItsBeginning) {
    publisher.stored(key(1), kNow);
    publisher.announce(kNow);
    const auto before = publisher.snapshot();
    ASSERT_EQ(next(), Message(before->begin));
    publisher.stored(key(2), kNow);
    outbox->offer(*publisher.announce(kNow));
    EXPECT_EQ(next(), Message(SnapshotPart{before->payload}));
    const auto delta = next();
    ASSERT_TRUE(delta && std::holds_alternative<Delta>(*delta));
    EXPECT_EQ(std::get<Delta>(*delta).generation, before->begin.generation + 1);
}

TEST_F(OutboxTest, AfterTheGoodbyeNothingFollows) {
    settle();
    outbox->offer(announcement(1));
    outbox->say_goodbye();
    EXPECT_FALSE(outbox->finished());
    EXPECT_EQ(next(), Message(Goodbye{}));
    EXPECT_TRUE(outbox->finished());
    outbox->offer(announcement(2));
    outbox->want_snapshot();
    EXPECT_EQ(next(kNow + 10s), std::nullopt);
}

TEST_F(OutboxTest, AGoodbyeDoesNotWaitForTheEndOfASnapshot) {
    ASSERT_TRUE(std::holds_alternative<SnapshotBegin>(*next()));
    outbox->say_goodbye();
    EXPECT_EQ(next(), Message(Goodbye{}));
}

TEST_F(OutboxTest, CountsTheBytesOfASnapshotWhenTheyGoOut) {
    next();
    EXPECT_EQ(outbox->counters().announcements_sent, 1U);
    EXPECT_EQ(outbox->counters().announcement_bytes_sent, 0U);
    next();
    EXPECT_EQ(outbox->counters().announcement_bytes_sent, publisher.snapshot()->payload.size());
}

TEST_F(OutboxTest, CountsThePayloadsItSends) {
    settle();
    const auto before = outbox->counters().announcement_bytes_sent;
    outbox->offer(announcement(1, 10));
    outbox->offer(announcement(2, 20));
    next();
    next();
    EXPECT_EQ(outbox->counters().announcement_bytes_sent, before + 30);
    EXPECT_EQ(outbox->counters().announcements_sent, 3U);
}

}  // namespace outbox_test
}  // namespace protocol::test
