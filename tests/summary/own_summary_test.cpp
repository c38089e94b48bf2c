// The owner's side as protocol/ uses it, for every kind: a replica follows all that it makes.

#include "summary/own/own_summary.hpp"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "summary/coding/judge.hpp"
#include "summary/coding/snapshot_reader.hpp"
#include "summary/directory/replica.hpp"
#include "tests/summary/keys.hpp"

namespace summary {
namespace own_summary_test {

using test::asked;
using test::key;
using test::keys;
using test::kNoLimit;

class OwnOfKind : public ::testing::TestWithParam<Kind> {
protected:
    OwnSummary::Config config(double error = 0.002) const {
        OwnSummary::Config result;
        result.error = error;
        result.first_epoch = 10;
        result.kind = GetParam();
        result.changes_at_once = 300;
        result.keys_at_once = 200;
        result.words_at_once = 64;
        return result;
    }
    static std::vector<std::byte> snapshot_of(OwnSummary& own, unsigned* slices = nullptr) {
        std::vector<std::byte> payload;
        OwnSummary::SnapshotWriter writer(own, payload);
        while (!writer.step(own)) {
            if (slices != nullptr) ++*slices;
        }
        return payload;
    }
    static Replica replica_of(OwnSummary& own) {
        const auto payload = snapshot_of(own);
        const auto announced = own.importing() ? 0 : own.objects();
        EXPECT_EQ(judge(SnapshotHead{own.descriptor(), announced, payload.size()}, 1 << 28),
                  DescriptorVerdict::accepted);
        SnapshotReader reader(own.descriptor());
        EXPECT_TRUE(reader.take(payload));
        auto filter = reader.finish();
        EXPECT_TRUE(filter);
        Replica replica;
        EXPECT_EQ(replica.apply_snapshot(own.epoch(), own.generation(), std::move(*filter)),
                  ApplyResult::ok);
        return replica;
    }
    /// Every newcomer gets a snapshot.
    static void use_up_changes(OwnSummary& own) {
        while (!own.all_announced()) own.take_delta(kNoLimit);
    }
    static void announce_all(OwnSummary& own, Replica& replica) {
        while (!own.all_announced()) {
            const auto payload = own.take_delta(kNoLimit);
            ASSERT_TRUE(payload);
            ASSERT_EQ(replica.apply_delta(own.epoch(), own.generation(), *payload).what,
                      ApplyResult::ok);
        }
        EXPECT_EQ(replica.check(own.epoch(), own.generation(), own.check_hash()), ApplyResult::ok);
    }
};

TEST_P(OwnOfKind, IsOfTheKindItIsAskedToBe) {
    const OwnSummary own(config());
    EXPECT_EQ(describe(own.descriptor()).kind, name(GetParam()));
    EXPECT_EQ(judge(own.descriptor(), 1 << 28), DescriptorVerdict::accepted);
    EXPECT_EQ(own.epoch(), 10U);
}

TEST_P(OwnOfKind, ItsSnapshotAndDeltasKeepAReplicaInStep) {
    OwnSummary own(config());
    for (const auto hash : keys(0, 500)) own.stored(hash);
    use_up_changes(own);
    auto replica = replica_of(own);
    announce_all(own, replica);
    for (std::uint64_t round = 0; round < 50; ++round) {
        for (const auto hash : keys(1000 + 10 * round, 10)) own.stored(hash);
        for (const auto hash : keys(5 * round, 5)) own.removed(hash);
        ASSERT_NO_FATAL_FAILURE(announce_all(own, replica));
    }
    EXPECT_EQ(own.objects(), 750U);
    for (const auto hash : keys(1000, 500)) ASSERT_TRUE(contains(replica.filter(), asked(hash)));
    for (const auto hash : keys(250, 250)) ASSERT_TRUE(contains(replica.filter(), asked(hash)));
}

TEST_P(OwnOfKind, ASnapshotTakesSlicesBetweenWhichKeysComeAndGo) {
    auto how = config();
    how.expected_objects = 5000;
    OwnSummary own(how);
    for (const auto hash : keys(0, 4000)) own.stored(hash);
    use_up_changes(own);
    const auto generation = own.generation();
    std::vector<std::byte> payload;
    OwnSummary::SnapshotWriter writer(own, payload);
    std::vector<std::pair<std::uint64_t, std::vector<std::byte>>> deltas;
    unsigned slices = 0;
    const auto announce = [&] {
        auto delta = own.take_delta(kNoLimit);
        ASSERT_TRUE(delta);
        deltas.emplace_back(own.generation(), std::move(*delta));
    };
    for (; !writer.step(own); ++slices) {
        own.stored(key(10'000 + slices));
        own.removed(key(slices));
        if (slices % 3 == 0) {
            ASSERT_NO_FATAL_FAILURE(announce());
        }
    }
    EXPECT_GT(slices, 5U);
    while (!own.all_announced()) ASSERT_NO_FATAL_FAILURE(announce());
    SnapshotReader reader(own.descriptor());
    ASSERT_TRUE(reader.take(payload));
    Replica replica;
    replica.apply_snapshot(own.epoch(), generation, *reader.finish());
    for (const auto& [number, delta] : deltas)
        ASSERT_EQ(replica.apply_delta(own.epoch(), number, delta).what, ApplyResult::ok);
    EXPECT_EQ(replica.check(own.epoch(), own.generation(), own.check_hash()), ApplyResult::ok);
}

TEST_P(OwnOfKind, ADeltaThatWouldBeTooLongIsLeftToASnapshot) {
    OwnSummary own(config());
    for (const auto hash : keys(0, 50)) own.stored(hash);
    EXPECT_FALSE(own.take_delta(10));
    EXPECT_EQ(own.generation(), 1U) << "it is used up all the same";
    EXPECT_TRUE(own.all_announced());
    own.stored(key(100));
    EXPECT_TRUE(own.take_delta(kNoLimit));
}

TEST_P(OwnOfKind, GrowsInSlicesIntoANewEpoch) {
    OwnSummary own(config());
    std::uint64_t next = 0;
    while (own.fit() == Fit::fits) own.stored(key(next++));
    use_up_changes(own);
    EXPECT_EQ(own.fit(), Fit::too_small);
    const auto before = own.descriptor();
    own.begin_regrow();
    unsigned slices = 0;
    for (; !own.grow_some(); ++slices) {
        EXPECT_TRUE(own.growing());
        EXPECT_EQ(own.descriptor(), before);
        own.stored(key(next++));
    }
    while (own.tidy()) continue;
    EXPECT_GT(slices, 2U);
    EXPECT_FALSE(own.growing());
    EXPECT_EQ(own.epoch(), 11U);
    EXPECT_EQ(own.generation(), 0U);
    EXPECT_NE(own.descriptor(), before);
    EXPECT_TRUE(own.suits());
    EXPECT_EQ(own.changed_since_announced(), 0U);
    const auto replica = replica_of(own);
    for (const auto hash : keys(0, next)) ASSERT_TRUE(contains(replica.filter(), asked(hash)));
}

TEST_P(OwnOfKind, GoesOnWithTheKeysOfAnotherUnderAnotherError) {
    OwnSummary earlier(config());
    for (const auto hash : keys(0, 600)) earlier.stored(hash);
    OwnSummary own(config(0.0002), std::move(earlier));
    EXPECT_EQ(own.objects(), 600U);
    EXPECT_TRUE(own.suits());
    EXPECT_LE(own.expected_false_hit(), 0.0002);
    EXPECT_GT(own.fill_ratio(), 0);
    EXPECT_FALSE(own.stored(key(5)));
    EXPECT_TRUE(own.removed(key(5)));
    own.set_error(0.05);
    EXPECT_FALSE(own.suits());
}

TEST_P(OwnOfKind, AnnouncesAStartUpImportAsOneEpoch) {
    OwnSummary own(config());
    own.begin_import();
    auto replica = replica_of(own);
    const auto empty = own.descriptor();
    for (const auto hash : keys(0, 6000)) own.stored(hash);
    for (const auto hash : keys(0, 1000)) own.removed(hash);
    EXPECT_EQ(own.objects(), 5000U);
    EXPECT_EQ(own.changed_since_announced(), 0U);
    EXPECT_TRUE(own.all_announced());
    EXPECT_EQ(own.fit(), Fit::fits);
    EXPECT_EQ(own.descriptor(), empty) << "nothing has grown";
    EXPECT_EQ(replica.check(own.epoch(), own.generation(), own.check_hash()), ApplyResult::ok);
    replica = replica_of(own);
    EXPECT_FALSE(contains(replica.filter(), asked(key(2000)))) << "not half of it";

    own.end_import();
    unsigned slices = 0;
    for (; !own.grow_some(); ++slices) {  // the present goes on
        EXPECT_TRUE(own.importing());
        own.stored(key(10'000 + slices));
        own.removed(key(1000 + slices));
    }
    EXPECT_GT(slices, 2U);
    EXPECT_FALSE(own.importing());
    EXPECT_EQ(own.epoch(), 11U) << "one";
    EXPECT_EQ(own.generation(), 0U);
    EXPECT_TRUE(own.suits());
    EXPECT_EQ(own.changed_since_announced(), 0U);
    replica = replica_of(own);
    EXPECT_EQ(replica.check(own.epoch(), own.generation(), own.check_hash()), ApplyResult::ok);
    for (const auto hash : keys(1000 + slices, 5000 - slices))
        ASSERT_TRUE(contains(replica.filter(), asked(hash)));
    for (const auto hash : keys(10'000, slices))
        ASSERT_TRUE(contains(replica.filter(), asked(hash)));
    own.stored(key(50'000));
    ASSERT_NO_FATAL_FAILURE(announce_all(own, replica));
    EXPECT_TRUE(contains(replica.filter(), asked(key(50'000))));
}

TEST_P(OwnOfKind, AStartThatFindsNothingIsNoEpoch) {
    OwnSummary own(config());
    own.begin_import();
    own.stored(key(1));
    own.removed(key(1));
    own.end_import();
    EXPECT_FALSE(own.importing());
    EXPECT_FALSE(own.growing());
    EXPECT_EQ(own.epoch(), 10U);
    for (const auto hash : keys(2, 500)) own.stored(hash);
    EXPECT_EQ(own.changed_since_announced(), 500U);
    use_up_changes(own);
    auto replica = replica_of(own);
    own.stored(key(1000));
    ASSERT_NO_FATAL_FAILURE(announce_all(own, replica));
    EXPECT_TRUE(contains(replica.filter(), asked(key(1000))));
}

// A reload in the middle.
TEST_P(OwnOfKind, GoesOnWithTheImportOfAnother) {
    for (const bool ended : {false, true}) {
        SCOPED_TRACE(ended);
        OwnSummary earlier(config());
        earlier.begin_import();
        for (const auto hash : keys(0, 5000)) earlier.stored(hash);
        if (ended) earlier.end_import();
        OwnSummary own(config(0.001), std::move(earlier));
        EXPECT_EQ(own.objects(), 5000U);
        EXPECT_EQ(own.growing(), ended);
        own.stored(key(7000));
        if (!ended) {
            EXPECT_TRUE(own.importing());
            EXPECT_EQ(own.changed_since_announced(), 0U);
            own.end_import();
        }
        while (own.growing()) own.grow_some();
        EXPECT_FALSE(own.importing());
        EXPECT_TRUE(own.suits());
        const auto replica = replica_of(own);
        for (const auto hash : keys(0, 5000)) ASSERT_TRUE(contains(replica.filter(), asked(hash)));
        EXPECT_TRUE(contains(replica.filter(), asked(key(7000))));
    }
}

INSTANTIATE_TEST_SUITE_P(AllKinds, OwnOfKind, ::testing::ValuesIn(kKinds),
                         [](const auto& kind) { return std::string(name(kind.param)); });

}  // namespace own_summary_test
}  // namespace summary
