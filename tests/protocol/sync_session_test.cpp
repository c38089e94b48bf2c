#include "protocol/links/sync_session.hpp"

#include <gtest/gtest.h>

#include <string>

#include "protocol/publishing/outbox.hpp"
#include "protocol/publishing/publisher.hpp"
#include "summary/coding/coding.hpp"
#include "tests/protocol/bytes.hpp"
#include "tests/summary/bloom.hpp"
#include "tests/summary/keys.hpp"

namespace protocol::test {
namespace sync_session_test {

using namespace std::chrono_literals;

using Load = SyncSession::Load;
using Change = SyncSession::Change;
using Close = SyncSession::Close;
using Action = SyncSession::Action;

const SyncSession::TimePoint kNow{100s};
constexpr std::uint64_t kEpoch = 7;
constexpr summary::Shape kShape{128, 4};
// Payloads of summary/FORMAT.md, for 128 bits.
const Bytes kSnapshot = unhex("0302058704");          // 3 and 40
const Bytes kDelta = unhex("01 03058744 02 010619");  // set 3, 40, 77; clear 12
const summary::Delta kChanges{{3, 40, 77}, {12}};

SnapshotBegin begin(std::uint64_t generation = 5) {
    return {kEpoch, generation, 9, bloom(kShape), kSnapshot.size()};
}
Delta delta(std::uint64_t generation, std::uint64_t epoch = kEpoch) {
    return {epoch, generation, kDelta};
}
Heartbeat heartbeat(std::uint64_t generation, std::uint64_t epoch = kEpoch) {
    return {epoch, generation, 11};
}
std::uint64_t check_hash_of(std::initializer_list<std::uint64_t> ones) {
    return summary::test::bits_with(ones, kShape.bits).check_hash();
}

class SyncSessionTest : public ::testing::Test {
protected:
    std::optional<Action> hear(const Message& message, SyncSession::TimePoint now = kNow) {
        return session.on_message(message, now);
    }
    std::optional<Action> hear_snapshot(std::uint64_t generation = 5) {
        EXPECT_EQ(hear(begin(generation)), std::nullopt);
        return hear(SnapshotPart{kSnapshot});
    }
    void in_sync_at(std::uint64_t generation) {
        ASSERT_EQ(hear_snapshot(generation), Action(Load{}));
        ASSERT_TRUE(session.in_sync());
        ASSERT_EQ(session.next(kNow),
                  Message(Heartbeat{kEpoch, generation, kListensElsewhere, 500ms}));
        ASSERT_EQ(session.next(kNow), std::nullopt);
    }
    void expect_asks_for_a_snapshot() {
        EXPECT_FALSE(session.in_sync());
        EXPECT_EQ(session.next(kNow), Message(SnapshotRequest{}));
        EXPECT_EQ(session.next(kNow), std::nullopt) << "asked twice";
        EXPECT_EQ(session.counters().resyncs, 1U);
    }

    SyncSession session{{1 << 20, 500ms}, kNow};
};

TEST_F(SyncSessionTest, WaitsForTheFirstSnapshotWithoutAsking) {
    EXPECT_FALSE(session.in_sync());
    EXPECT_EQ(session.next(kNow), Message(Heartbeat{0, 0, kListensElsewhere, 500ms}));
    EXPECT_EQ(session.next(kNow), std::nullopt);
    EXPECT_EQ(session.counters().resyncs, 0U);
}

TEST_F(SyncSessionTest, ASnapshotPutsItInStep) {
    EXPECT_EQ(hear(begin()), std::nullopt);
    EXPECT_FALSE(session.in_sync());
    EXPECT_EQ(hear(SnapshotPart{kSnapshot}, kNow + 1s), Action(Load{}));
    EXPECT_TRUE(session.in_sync());
    EXPECT_EQ(session.replica().epoch(), kEpoch);
    EXPECT_EQ(session.replica().generation(), 5U);
    EXPECT_EQ(session.replica().descriptor(), bloom(kShape));
    EXPECT_EQ(check_hash(session.replica().filter()), check_hash_of({3, 40}));
    EXPECT_EQ(session.objects(), 9U);
    EXPECT_EQ(session.confirmed_at(), kNow + 1s);
    EXPECT_EQ(session.counters().announcements_received, 1U);
    EXPECT_EQ(session.counters().announcement_bytes_received, kSnapshot.size());
}

TEST_F(SyncSessionTest, ASnapshotMayComeInAnyParts) {
    EXPECT_EQ(hear(begin()), std::nullopt);
    for (std::size_t i = 0; i + 1 < kSnapshot.size(); ++i) {
        EXPECT_EQ(hear(SnapshotPart{base::ByteView(kSnapshot).subspan(i, 1)}), std::nullopt);
        EXPECT_FALSE(session.in_sync());
        EXPECT_EQ(session.counters().announcement_bytes_received, i + 1);
    }
    EXPECT_EQ(session.counters().announcements_received, 0U);
    EXPECT_EQ(hear(SnapshotPart{base::ByteView(kSnapshot).last(1)}), Action(Load{}));
}

TEST_F(SyncSessionTest, TheNextDeltaIsDone) {
    in_sync_at(7);
    EXPECT_EQ(hear(delta(8), kNow + 1s), Action(Change{kChanges}));
    EXPECT_TRUE(session.in_sync());
    EXPECT_EQ(session.replica().generation(), 8U);
    EXPECT_EQ(check_hash(session.replica().filter()), check_hash_of({3, 40, 77}));
    EXPECT_EQ(session.confirmed_at(), kNow + 1s);
}

TEST_F(SyncSessionTest, AsksForASnapshotWhenADeltaIsMissing) {
    in_sync_at(7);
    EXPECT_EQ(hear(delta(9)), std::nullopt);
    expect_asks_for_a_snapshot();
    EXPECT_EQ(check_hash(session.replica().filter()), check_hash_of({3, 40}));  // as it was
}

TEST_F(SyncSessionTest, ARepeatedDeltaChangesNothing) {
    in_sync_at(7);
    ASSERT_TRUE(hear(delta(8)));
    EXPECT_EQ(hear(delta(8)), std::nullopt);
    EXPECT_EQ(hear(delta(3)), std::nullopt);
    EXPECT_TRUE(session.in_sync());
    EXPECT_EQ(session.replica().generation(), 8U);
}

TEST_F(SyncSessionTest, ADeltaOfAnotherEpochAsksForASnapshot) {
    in_sync_at(7);
    EXPECT_EQ(hear(delta(8, kEpoch + 1)), std::nullopt);
    expect_asks_for_a_snapshot();
}

TEST_F(SyncSessionTest, ADeltaOfAnotherEpochIsNotReadForTheOldShape) {
    in_sync_at(7);
    // Position 199: fine for the new shape, out of range for the old one.
    Bytes payload;
    summary::encode_delta({{199}, {}}, 256, payload);
    EXPECT_EQ(hear(Delta{kEpoch + 1, 1, payload}), std::nullopt);
    expect_asks_for_a_snapshot();
}

TEST_F(SyncSessionTest, DeltasBeforeTheSnapshotAreInIt) {
    EXPECT_EQ(hear(delta(1)), std::nullopt);
    EXPECT_FALSE(session.in_sync());
    EXPECT_EQ(session.counters().resyncs, 0U);
    in_sync_at(7);
    ASSERT_EQ(hear(delta(9)), std::nullopt);  // a gap
    EXPECT_EQ(hear(delta(10)), std::nullopt);
    expect_asks_for_a_snapshot();
    EXPECT_EQ(hear_snapshot(10), Action(Load{}));
    EXPECT_EQ(hear(delta(11)), Action(Change{kChanges}));
    EXPECT_TRUE(session.in_sync());
}

TEST_F(SyncSessionTest, AHeartbeatConfirmsThatItIsInStep) {
    in_sync_at(7);
    EXPECT_EQ(hear(heartbeat(7), kNow + 2s), std::nullopt);
    EXPECT_TRUE(session.in_sync());
    EXPECT_EQ(session.confirmed_at(), kNow + 2s);
    EXPECT_EQ(session.objects(), 11U);
    EXPECT_EQ(session.counters().heartbeats_received, 1U);
}

TEST_F(SyncSessionTest, AHeartbeatAheadOfUsShowsALostDelta) {
    in_sync_at(7);
    EXPECT_EQ(hear(heartbeat(8)), std::nullopt);
    expect_asks_for_a_snapshot();
}

TEST_F(SyncSessionTest, AHeartbeatOfARestartedEpochAsksForASnapshot) {
    in_sync_at(7);
    EXPECT_EQ(hear(heartbeat(0, kEpoch + 1)), std::nullopt);
    expect_asks_for_a_snapshot();
    EXPECT_EQ(hear(SnapshotBegin{kEpoch + 1, 0, 0, bloom({256, 4}), 2}), std::nullopt);
    EXPECT_EQ(hear(SnapshotPart{unhex("0300")}), Action(Load{}));
    EXPECT_TRUE(session.in_sync());
    EXPECT_EQ(session.replica().descriptor(), bloom({256, 4}));
    EXPECT_EQ(summary::test::bits_of(session.replica()).count_ones(), 0U);
}

TEST_F(SyncSessionTest, AnEarlierEpochIsTakenAsWellWhenThePublisherSaysSo) {
    in_sync_at(7);
    EXPECT_EQ(hear(SnapshotBegin{kEpoch - 1, 2, 0, bloom(kShape), 5}), std::nullopt);
    EXPECT_EQ(hear(SnapshotPart{kSnapshot}), Action(Load{}));
    EXPECT_EQ(session.replica().epoch(), kEpoch - 1);
}

TEST_F(SyncSessionTest, ACheckHashThatAgreesConfirms) {
    in_sync_at(7);
    EXPECT_EQ(hear(CheckHash{kEpoch, 7, check_hash_of({3, 40})}, kNow + 3s), std::nullopt);
    EXPECT_TRUE(session.in_sync());
    EXPECT_EQ(session.confirmed_at(), kNow + 3s);
}

TEST_F(SyncSessionTest, ACheckHashThatDiffersAsksForASnapshot) {
    in_sync_at(7);
    EXPECT_EQ(hear(CheckHash{kEpoch, 7, check_hash_of({3, 41})}), std::nullopt);
    expect_asks_for_a_snapshot();
    EXPECT_EQ(session.counters().check_failures, 1U);
}

TEST_F(SyncSessionTest, ACheckHashOfAnEarlierGenerationSaysNothing) {
    in_sync_at(7);
    ASSERT_TRUE(hear(delta(8)));
    EXPECT_EQ(hear(CheckHash{kEpoch, 7, 12345}), std::nullopt);
    EXPECT_TRUE(session.in_sync());
}

TEST_F(SyncSessionTest, WhileItWaitsForASnapshotItAsksAgainOnlyAfterAWhile) {
    in_sync_at(7);
    hear(delta(9));
    expect_asks_for_a_snapshot();
    hear(heartbeat(9), kNow + 1s);
    hear(CheckHash{kEpoch, 9, 1}, kNow + 1s);
    EXPECT_EQ(session.next(kNow), std::nullopt);
    hear(heartbeat(9), kNow + 2s);  // four heartbeats later the answer must have been lost
    EXPECT_EQ(session.next(kNow), Message(SnapshotRequest{}));
}

TEST_F(SyncSessionTest, AFirstSnapshotThatNeverComesIsAskedFor) {
    hear(heartbeat(3), kNow + 1999ms);
    EXPECT_NE(session.next(kNow), Message(SnapshotRequest{}));
    hear(heartbeat(3), kNow + 2s);
    EXPECT_EQ(session.next(kNow), Message(SnapshotRequest{}));
}

/// A session that goes on from generation 7, which an earlier one left.
class SyncSessionResuming : public SyncSessionTest {
protected:
    SyncSessionResuming() {
        in_sync_at(7);
        auto left = session.leave_replica();
        EXPECT_TRUE(left);
        next.emplace(SyncSession::Config{1 << 20, 500ms}, kNow, 0, 0, std::move(left));
    }
    std::optional<Action> hear(const Message& message, SyncSession::TimePoint now = kNow) {
        return next->on_message(message, now);
    }
    std::optional<SyncSession> next;
};

TEST_F(SyncSessionResuming, SaysWhatItHoldsAndIsNotInStepYet) {
    EXPECT_FALSE(next->in_sync());
    EXPECT_EQ(next->next(kNow), Message(Heartbeat{kEpoch, 7, kListensElsewhere, 500ms}));
}

TEST_F(SyncSessionResuming, DeltasAndTheHeartbeatBehindThemPutItInStep) {
    EXPECT_EQ(hear(delta(8)), Action(Change{kChanges}));
    EXPECT_FALSE(next->in_sync()) << "more may follow";
    EXPECT_EQ(hear(heartbeat(8)), Action(SyncSession::Resume{}));
    EXPECT_TRUE(next->in_sync());
    EXPECT_EQ(hear(heartbeat(8)), std::nullopt);
    EXPECT_EQ(hear(CheckHash{kEpoch, 8, check_hash_of({3, 40, 77})}), std::nullopt);
    EXPECT_TRUE(next->in_sync());
}

TEST_F(SyncSessionResuming, AHeartbeatWithoutAnEpochLetsItWaitAndThenAsk) {
    EXPECT_EQ(hear(heartbeat(0, 0)), std::nullopt);
    EXPECT_FALSE(next->in_sync());
    EXPECT_EQ(next->counters().resyncs, 0U);
    EXPECT_EQ(hear(heartbeat(0, 0), kNow + 2s), std::nullopt);
    EXPECT_EQ(next->next(kNow), Message(SnapshotRequest{}));
    EXPECT_EQ(hear(delta(8)), std::nullopt) << "the snapshot will contain it";
}

TEST_F(SyncSessionResuming, ASnapshotInPlaceOfDeltasIsTaken) {
    EXPECT_EQ(hear(heartbeat(0, 0)), std::nullopt);
    EXPECT_EQ(hear(begin(9)), std::nullopt);
    EXPECT_FALSE(next->in_sync());
    EXPECT_EQ(hear(SnapshotPart{kSnapshot}), Action(Load{}));
    EXPECT_TRUE(next->in_sync());
    EXPECT_EQ(next->replica().generation(), 9U);
    EXPECT_EQ(hear(delta(10)), Action(Change{kChanges}));
}

TEST_F(SyncSessionResuming, AnotherEpochAGapAndAHeartbeatAheadOfTheDeltasAskForASnapshot) {
    for (const Message& wrong : {Message(delta(8, kEpoch + 1)), Message(delta(9)),
                                 Message(heartbeat(8)), Message(heartbeat(7, kEpoch + 1))}) {
        SyncSession first{{1 << 20, 500ms}, kNow};
        first.on_message(begin(7), kNow);
        first.on_message(SnapshotPart{kSnapshot}, kNow);
        SyncSession second{{1 << 20, 500ms}, kNow, 0, 0, first.leave_replica()};
        EXPECT_EQ(second.on_message(wrong, kNow), std::nullopt);
        EXPECT_EQ(second.next(kNow), Message(SnapshotRequest{}));
        EXPECT_FALSE(second.in_sync());
        EXPECT_FALSE(second.leave_replica());
    }
}

TEST_F(SyncSessionResuming, ItMayBreakAgainAndGoOn) {
    ASSERT_TRUE(hear(delta(8)));
    auto left = next->leave_replica();
    ASSERT_TRUE(left);
    SyncSession third{{1 << 20, 500ms}, kNow, 0, 0, std::move(left)};
    EXPECT_EQ(third.next(kNow), Message(Heartbeat{kEpoch, 8, kListensElsewhere, 500ms}));
    EXPECT_EQ(third.on_message(heartbeat(8), kNow), Action(SyncSession::Resume{}));
}

TEST_F(SyncSessionTest, ASessionWithoutASnapshotLeavesNothing) {
    EXPECT_FALSE(session.leave_replica());
}

TEST_F(SyncSessionTest, BeatsAtTheGivenIntervalAndPromisesIt) {
    in_sync_at(7);
    session.beat_every(8s);
    EXPECT_EQ(session.next(kNow + 500ms), Message(Heartbeat{kEpoch, 7, kListensElsewhere, 8000ms}));
    EXPECT_GT(session.due(), kNow + 7s);
    EXPECT_LE(session.due(), kNow + 8500ms);
}

TEST_F(SyncSessionTest, HeardElsewhereItBeatsOnceAndAgainWhenItIsNotAnyMore) {
    session.set_heard_elsewhere(true);
    in_sync_at(7);
    EXPECT_EQ(session.next(kNow + 500ms), std::nullopt);
    EXPECT_EQ(session.due(), SyncSession::TimePoint::max());
    hear(heartbeat(9));  // a delta is missing
    EXPECT_EQ(session.due(), SyncSession::TimePoint::min());
    EXPECT_EQ(session.next(kNow + 600ms), Message(SnapshotRequest{}));
    EXPECT_EQ(session.next(kNow + 1s), std::nullopt);
    session.set_heard_elsewhere(false);
    EXPECT_EQ(session.next(kNow + 1400ms), std::nullopt) << "when it is due";
    EXPECT_EQ(session.next(kNow + 1500ms), Message(Heartbeat{kEpoch, 7, kListensElsewhere, 500ms}));
}

TEST_F(SyncSessionTest, ItsHeartbeatsNameItsGenerationWhenTheyAreDue) {
    in_sync_at(7);
    EXPECT_EQ(session.due(), kNow + 500ms);
    EXPECT_EQ(session.next(kNow + 499ms), std::nullopt);
    EXPECT_EQ(session.next(kNow + 500ms), Message(Heartbeat{kEpoch, 7, kListensElsewhere, 500ms}));
    EXPECT_EQ(session.due(), kNow + 1s);
}

TEST_F(SyncSessionTest, AGoodbyeEndsTheLink) {
    in_sync_at(7);
    EXPECT_EQ(hear(Goodbye{}), Action(Close{Error::goodbye}));
}

TEST_F(SyncSessionTest, AGoodbyeInTheMidstOfASnapshotEndsTheLinkToo) {
    hear(begin());
    EXPECT_EQ(hear(Goodbye{}), Action(Close{Error::goodbye}));
}

TEST_F(SyncSessionTest, OldBitsServeUntilTheNewSnapshotIsComplete) {
    in_sync_at(7);
    hear(begin(9));
    EXPECT_TRUE(session.in_sync());  // nothing said otherwise
    EXPECT_EQ(session.replica().generation(), 7U);
}

TEST_F(SyncSessionTest, ASnapshotOlderThanWhatWeHaveIsIgnored) {
    in_sync_at(7);
    EXPECT_EQ(hear_snapshot(6), std::nullopt);
    EXPECT_TRUE(session.in_sync());
    EXPECT_EQ(session.replica().generation(), 7U);
}

TEST_F(SyncSessionTest, OtherMessagesBetweenThePartsOfASnapshotEndTheLink) {
    const auto closes = [](const Message& message) {
        SyncSession fresh{{1 << 20, 500ms}, kNow};
        fresh.on_message(begin(), kNow);
        return fresh.on_message(message, kNow) == Action(Close{Error::unexpected_frame});
    };
    EXPECT_TRUE(closes(delta(8)));
    EXPECT_TRUE(closes(heartbeat(8)));
    EXPECT_TRUE(closes(CheckHash{kEpoch, 8, 0}));
}

TEST_F(SyncSessionTest, ASnapshotBegunAnewForgetsThePartsBefore) {
    hear(begin(5));
    hear(SnapshotPart{base::ByteView(kSnapshot).first(2)});
    EXPECT_EQ(hear_snapshot(6), Action(Load{}));
}

TEST_F(SyncSessionTest, PartsWithoutABeginningAreUnexpected) {
    EXPECT_EQ(hear(SnapshotPart{kSnapshot}), Action(Close{Error::unexpected_frame}));
    in_sync_at(7);
    EXPECT_EQ(hear(SnapshotPart{kSnapshot}), Action(Close{Error::unexpected_frame}));
}

TEST_F(SyncSessionTest, MessagesOfTheOtherDirectionAreUnexpected) {
    EXPECT_EQ(hear(Welcome{}), Action(Close{Error::unexpected_frame}));
    EXPECT_EQ(hear(SnapshotRequest{}), Action(Close{Error::unexpected_frame}));
}

TEST_F(SyncSessionTest, MoreBytesThanPromisedEndTheLink) {
    auto modest = begin();
    modest.payload_bytes = kSnapshot.size() - 1;
    hear(modest);  // the payload is good, but larger than it said
    EXPECT_EQ(hear(SnapshotPart{kSnapshot}), Action(Close{Error::malformed_summary}));
}

TEST_F(SyncSessionTest, ASnapshotThatCannotBeDecodedEndsTheLink) {
    hear(begin());
    EXPECT_EQ(hear(SnapshotPart{unhex("ff02058704")}), Action(Close{Error::malformed_summary}));
}

TEST_F(SyncSessionTest, ADeltaThatCannotBeDecodedEndsTheLink) {
    in_sync_at(7);
    const auto bad = unhex("ff00");
    EXPECT_EQ(hear(Delta{kEpoch, 8, bad}), Action(Close{Error::malformed_summary}));
}

TEST_F(SyncSessionTest, ADeltaOutOfTheShapeEndsTheLink) {
    in_sync_at(7);
    Bytes payload;
    summary::encode_delta({{199}, {}}, 256, payload);
    EXPECT_EQ(hear(Delta{kEpoch, 8, payload}), Action(Close{Error::malformed_summary}));
}

TEST_F(SyncSessionTest, TheHeadOfASnapshotIsJudgedBeforeItsBytesCome) {
    const auto judged = [](SnapshotBegin bad) {
        SyncSession fresh{{1 << 20, 500ms}, kNow};
        const auto action = fresh.on_message(bad, kNow);
        return action ? std::get<Close>(*action).reason : Error::refused;
    };
    const auto judged_as = [&](std::string_view descriptor) {
        auto bad = begin();
        bad.summary = *summary::Descriptor::from(unhex(descriptor));
        return judged(bad);
    };
    EXPECT_EQ(judged_as("7f 0000000000000080 04"), Error::unknown_kind);
    EXPECT_EQ(judged_as("7f"), Error::unknown_kind);
    EXPECT_EQ(judged_as("04 0000000000000000 04"), Error::malformed_summary);
    EXPECT_EQ(judged_as("04 0000000000000080 11"), Error::malformed_summary);
    EXPECT_EQ(judged_as("04 0000000000000080"), Error::malformed_summary);
    EXPECT_EQ(judged_as("04 0000000000800008 04"), Error::summary_too_large);
    auto bad = begin();
    bad.payload_bytes = summary::max_snapshot_bytes(kShape.bits) + 1;
    EXPECT_EQ(judged(bad), Error::malformed_summary);
    bad.payload_bytes = ~std::uint64_t{0};
    EXPECT_EQ(judged(bad), Error::malformed_summary);
}

/// Publisher, outbox and session in one, with frames lost on the way: in every case the replica
/// ends like the original.
TEST_F(SyncSessionTest, EndsInStepWhateverIsLost) {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        summary::test::Random random(seed);
        Publisher::Config how;
        how.announce_delay = 0s;
        how.check_hash = 100ms;
        Publisher publisher(how, kNow);
        Outbox outbox({2000, 500ms}, kNow);
        SyncSession subscriber({1 << 20, 500ms}, kNow);
        auto now = kNow;
        const auto carry = [&](bool lossy) {
            while (auto message = outbox.next(publisher, now)) {
                const bool in_snapshot = std::holds_alternative<SnapshotBegin>(*message) ||
                                         std::holds_alternative<SnapshotPart>(*message);
                if (lossy && !in_snapshot && random.one_in(4)) continue;
                const auto action = subscriber.on_message(*message, now);
                ASSERT_FALSE(action && std::holds_alternative<Close>(*action));
            }
            while (auto message = subscriber.next(now)) {
                if (std::holds_alternative<SnapshotRequest>(*message)) outbox.want_snapshot();
            }
        };
        for (int round = 0; round < 300; ++round) {
            now += 50ms;
            for (auto changes = random.below(30); changes > 0; --changes) {
                const auto key = summary::test::key(random.below(3000));
                random.one_in(3) ? publisher.removed(key, now) : publisher.stored(key, now);
            }
            if (const auto announcement = publisher.announce(now)) outbox.offer(*announcement);
            if (!random.one_in(3)) carry(true);
        }
        for (int round = 0; round < 3; ++round) {
            now += 1s;
            carry(false);
        }
        ASSERT_TRUE(subscriber.in_sync());
        EXPECT_EQ(subscriber.replica().generation(), publisher.own().generation());
        EXPECT_EQ(check_hash(subscriber.replica().filter()), publisher.own().check_hash());
        EXPECT_GT(subscriber.counters().resyncs, 0U);
    }
}

}  // namespace sync_session_test
}  // namespace protocol::test
