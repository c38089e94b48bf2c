#include "protocol/publishing/publisher.hpp"

#include <gtest/gtest.h>

#include "protocol/wire/frame.hpp"
#include "summary/coding/judge.hpp"
#include "summary/coding/snapshot_reader.hpp"
#include "summary/directory/replica.hpp"
#include "tests/summary/keys.hpp"

namespace protocol::test {
namespace publisher_test {

using namespace std::chrono_literals;
using summary::test::key;
using summary::test::keys;

const Publisher::TimePoint kNow{100s};

Publisher::Config config() {
    Publisher::Config config;
    config.summary.first_epoch = 40;
    config.announce_changed = 0.1;
    config.announce_delay = 1s;
    config.check_hash = 10s;
    return config;
}

/// One that has announced `objects` keys.
Publisher with(std::uint64_t objects, Publisher::Config how = config()) {
    Publisher publisher(how, kNow);
    for (const auto k : keys(0, objects)) publisher.stored(k, kNow);
    publisher.announce(kNow);
    return publisher;
}

summary::Replica replica_from(const SnapshotImage& image) {
    summary::SnapshotReader reader(image.begin.summary);
    EXPECT_TRUE(reader.take(image.payload));
    summary::Replica replica;
    replica.apply_snapshot(image.begin.epoch, image.begin.generation, *reader.finish());
    return replica;
}

TEST(Publisher, HasNothingToAnnounceAtFirst) {
    Publisher publisher(config(), kNow);
    EXPECT_EQ(publisher.announce_due(), std::nullopt);
    EXPECT_FALSE(publisher.announce(kNow));
    EXPECT_EQ(publisher.heartbeat(), (Heartbeat{40, 0, 0}));
}

TEST(Publisher, TheFirstObjectIsAnnouncedAtOnce) {
    Publisher publisher(config(), kNow);
    publisher.stored(key(1), kNow);
    EXPECT_EQ(publisher.announce_due(), kNow);
}

TEST(Publisher, TheStartUpImportIsAnnouncedAsOneEpoch) {
    Publisher publisher(config(), kNow);
    publisher.begin_import();
    for (const auto k : keys(0, 5000)) publisher.stored(k, kNow);
    publisher.removed(key(0), kNow);
    publisher.set_error(0.0001);  // a peer has come
    EXPECT_EQ(publisher.announce_due(), std::nullopt);
    EXPECT_FALSE(publisher.busy());
    EXPECT_EQ(publisher.heartbeat(), (Heartbeat{40, 0, 0}));
    EXPECT_EQ(publisher.snapshot()->begin.objects, 0U);
    EXPECT_TRUE(publisher.check(kNow + 10s));
    publisher.end_import();
    ASSERT_TRUE(publisher.busy());
    std::optional<Announcement> announced;
    while (!announced && publisher.busy()) announced = publisher.work();
    ASSERT_TRUE(announced);
    EXPECT_EQ(announced->epoch, 41U);
    EXPECT_EQ(announced->generation, 0U);
    EXPECT_FALSE(announced->delta);
    EXPECT_EQ(publisher.heartbeat(), (Heartbeat{41, 0, 4999}));
    EXPECT_EQ(publisher.announce_due(), std::nullopt);
    const auto replica = replica_from(*publisher.snapshot());
    for (const auto k : keys(1, 4999))
        ASSERT_TRUE(contains(replica.filter(), summary::test::asked(k)));
    EXPECT_TRUE(publisher.own().suits());
}

TEST(Publisher, FewChangesWaitForTheDelayFromTheFirstOfThem) {
    auto publisher = with(100);
    publisher.stored(key(1000), kNow + 5s);
    EXPECT_EQ(publisher.announce_due(), kNow + 6s);
    publisher.stored(key(1001), kNow + 5500ms);
    EXPECT_EQ(publisher.announce_due(), kNow + 6s);
}

TEST(Publisher, EnoughChangesDoNotWait) {
    auto publisher = with(100);
    for (std::uint64_t i = 0; i < 12; ++i) {
        EXPECT_NE(publisher.announce_due(), kNow + 5s) << i;
        publisher.stored(key(1000 + i), kNow + 5s);
    }
    EXPECT_EQ(publisher.announce_due(), kNow + 5s);  // 12 of 112 are more than a tenth
}

TEST(Publisher, OneInAndOneOutCountsOnce) {
    auto publisher = with(100);
    for (std::uint64_t i = 0; i < 9; ++i) {
        publisher.stored(key(1000 + i), kNow);
        publisher.removed(key(i), kNow);
    }
    EXPECT_EQ(publisher.announce_due(), kNow + 1s);
    publisher.stored(key(2000), kNow);
    publisher.removed(key(50), kNow);
    EXPECT_EQ(publisher.announce_due(), kNow);
}

TEST(Publisher, AChangeWithoutEffectIsNotAnnounced) {
    auto publisher = with(100);
    publisher.stored(key(1), kNow);
    publisher.removed(key(1000), kNow);
    EXPECT_EQ(publisher.announce_due(), std::nullopt);
}

TEST(Publisher, TheLastRemovalIsAnnouncedAtOnce) {
    auto publisher = with(1);
    publisher.removed(key(0), kNow);
    EXPECT_EQ(publisher.announce_due(), kNow);
}

TEST(Publisher, AnnouncementsLeadAReplicaFromGenerationToGeneration) {
    auto publisher = with(100);
    auto replica = replica_from(*publisher.snapshot());
    for (std::uint64_t round = 0; round < 20; ++round) {
        publisher.stored(key(1000 + round), kNow);
        publisher.removed(key(round), kNow);
        const auto announcement = publisher.announce(kNow);
        ASSERT_TRUE(announcement && announcement->delta);
        EXPECT_EQ(
            replica.apply_delta(announcement->epoch, announcement->generation, *announcement->delta)
                .what,
            summary::ApplyResult::ok);
        EXPECT_TRUE(contains(replica.filter(), summary::test::asked(key(1000 + round))));
    }
    EXPECT_EQ(check_hash(replica.filter()), publisher.own().check_hash());
}

TEST(Publisher, ChangesThatCancelOutUseAGenerationAndAreAnnounced) {
    auto publisher = with(100);
    const auto before = publisher.heartbeat();
    publisher.stored(key(1000), kNow);
    publisher.removed(key(1000), kNow);
    const auto announcement = publisher.announce(kNow + 1s);
    ASSERT_TRUE(announcement && announcement->delta);
    EXPECT_EQ(announcement->generation, before.generation + 1);
    EXPECT_LT(announcement->delta->size(), 10U);
}

TEST(Publisher, AnOutgrownShapeIsANewEpochAnnouncedByASnapshot) {
    auto publisher = with(100);
    const auto before = publisher.own().descriptor();
    for (const auto k : keys(0, 5000)) publisher.stored(k, kNow);
    const auto announcement = publisher.announce(kNow);
    ASSERT_TRUE(announcement);
    EXPECT_EQ(announcement->delta, nullptr);
    EXPECT_EQ(announcement->epoch, 41U);
    EXPECT_EQ(announcement->generation, 0U);
    EXPECT_GT(describe(publisher.own().descriptor()).bits, describe(before).bits);
    EXPECT_EQ(publisher.heartbeat(), (Heartbeat{41, 0, 5000}));
}

TEST(Publisher, ASnapshotAnnouncesAChangeOfNearlyAll) {
    auto publisher = with(0);
    for (const auto k : keys(0, 1000)) publisher.stored(k, kNow);
    const auto announcement = publisher.announce(kNow);
    ASSERT_TRUE(announcement);
    EXPECT_EQ(announcement->delta, nullptr);
    EXPECT_EQ(announcement->epoch, 40U);
    EXPECT_EQ(announcement->generation, 1U);
}

TEST(Publisher, CheckHashesComeWhenDueAndAllIsAnnounced) {
    auto publisher = with(100);
    EXPECT_EQ(publisher.check(kNow + 9s), std::nullopt);
    publisher.stored(key(1000), kNow + 10s);
    EXPECT_EQ(publisher.check(kNow + 10s), std::nullopt);  // one change is not announced yet
    const auto announcement = publisher.announce(kNow + 11s);
    ASSERT_TRUE(announcement && announcement->check);
    EXPECT_EQ(*announcement->check,
              (CheckHash{40, announcement->generation, publisher.own().check_hash()}));
    EXPECT_EQ(publisher.check(kNow + 20s), std::nullopt);
    const auto quiet = publisher.check(kNow + 21s);
    ASSERT_TRUE(quiet);
    EXPECT_EQ(*quiet, *announcement->check);
    EXPECT_EQ(publisher.check(kNow + 21s), std::nullopt);
}

TEST(Publisher, ASnapshotIsEncodedOncePerGenerationWhileItIsInUse) {
    auto publisher = with(100);
    const auto image = publisher.snapshot();
    EXPECT_EQ(publisher.snapshot(), image);
    publisher.stored(key(1000), kNow);
    EXPECT_EQ(publisher.snapshot(), image);  // not announced yet: the next delta has it
    publisher.announce(kNow);
    const auto next = publisher.snapshot();
    EXPECT_NE(next, image);
    EXPECT_EQ(next->begin.generation, image->begin.generation + 1);
}

TEST(Publisher, ASnapshotSaysWhatItIs) {
    auto publisher = with(100);
    const auto image = publisher.snapshot();
    EXPECT_EQ(image->begin.epoch, 40U);
    EXPECT_EQ(image->begin.generation, 1U);
    EXPECT_EQ(image->begin.objects, 100U);
    EXPECT_EQ(image->begin.summary, publisher.own().descriptor());
    EXPECT_EQ(image->begin.payload_bytes, image->payload.size());
    EXPECT_EQ(check_hash(replica_from(*image).filter()), publisher.own().check_hash());
}

TEST(Publisher, ADeltaAfterASnapshotTakenMidwayMendsItForAll) {
    // One replica has the changes under way in its snapshot, the other has not.
    auto publisher = with(100);
    auto early = replica_from(*publisher.snapshot());
    publisher.stored(key(1000), kNow);
    auto midway = replica_from(*publisher.snapshot());
    publisher.removed(key(1000), kNow);
    publisher.removed(key(5), kNow);
    const auto announcement = publisher.announce(kNow + 1s);
    for (auto* replica : {&early, &midway}) {
        EXPECT_EQ(
            replica
                ->apply_delta(announcement->epoch, announcement->generation, *announcement->delta)
                .what,
            summary::ApplyResult::ok);
        EXPECT_EQ(check_hash(replica->filter()), publisher.own().check_hash());
    }
}

}  // namespace publisher_test
}  // namespace protocol::test
