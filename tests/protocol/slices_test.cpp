// Publisher, outbox, session and neighbourhood with so much that one slice does not do it.

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <thread>

#include "protocol/links/sync_session.hpp"
#include "protocol/membership/neighbourhood.hpp"
#include "protocol/publishing/outbox.hpp"
#include "protocol/publishing/publisher.hpp"
#include "tests/summary/bloom.hpp"

namespace protocol::test {
namespace slices_test {

using namespace std::chrono_literals;
using summary::test::asked;
using summary::test::bits_of;
using summary::test::key;
using summary::test::keys;
using summary::test::Random;

const Publisher::TimePoint kNow{100s};

/// A publisher with many objects and a subscriber that hears all it says.
class Large : public ::testing::Test {
protected:
    Large() {
        for (const auto k : keys(0, kMany)) publisher.stored(k, kNow);
        finish();
    }

    void send(const std::optional<Announcement>& announcement) {
        if (announcement) outbox.offer(*announcement);
    }
    void announce() {
        while (publisher.announce_due()) send(publisher.announce(kNow));
    }
    void finish() {
        announce();
        while (publisher.busy()) send(publisher.work());
    }
    /// Everything that the outbox has now, into the session.
    void deliver(Outbox::TimePoint now = kNow) {
        while (const auto message = outbox.next(publisher, now)) {
            if (std::holds_alternative<SnapshotBegin>(*message)) ++snapshots;
            const auto action = session.on_message(*message, now);
            ASSERT_FALSE(action && std::holds_alternative<SyncSession::Close>(*action));
        }
    }
    void change(std::uint64_t count) {
        for (std::uint64_t i = 0; i < count; ++i) {
            const auto number = random.below(2 * kMany);
            random.one_in(2) ? publisher.stored(key(number), kNow)
                             : publisher.removed(key(number), kNow);
        }
    }
    void expect_in_step() {
        EXPECT_TRUE(session.in_sync());
        EXPECT_EQ(session.replica().epoch(), publisher.own().epoch());
        EXPECT_EQ(session.replica().generation(), publisher.own().generation());
        EXPECT_EQ(check_hash(session.replica().filter()), publisher.own().check_hash());
        EXPECT_EQ(session.counters().resyncs, 0U);
    }

    static constexpr std::uint64_t kMany = 60'000;
    Random random{3};
    static Publisher::Config in_small_slices() {
        Publisher::Config config;
        config.summary.changes_at_once = 2000;
        config.summary.keys_at_once = 500;
        config.summary.words_at_once = 4096;
        return config;
    }
    Publisher publisher{in_small_slices(), kNow};
    Outbox outbox{{1 << 24, 500ms}, kNow};
    SyncSession session{{1 << 30, 500ms}, kNow};
    unsigned snapshots = 0;
};

TEST_F(Large, ASnapshotTakesSlicesAndIsMendedByWhatIsAnnouncedMeanwhile) {
    deliver();  // begins the image
    ASSERT_TRUE(publisher.busy());
    EXPECT_EQ(snapshots, 0U);
    unsigned slices = 0;
    for (; publisher.busy(); ++slices) {
        change(20);
        if (slices % 3 == 0) announce();
        send(publisher.work());
        ASSERT_NO_FATAL_FAILURE(deliver());
    }
    EXPECT_GT(slices, 5U);
    announce();
    deliver();
    EXPECT_EQ(snapshots, 1U);
    expect_in_step();
}

TEST_F(Large, CheckHashesDoNotFailBecauseOfASnapshotInTheMaking) {
    deliver();
    auto now = kNow;
    while (publisher.busy()) {
        change(20);
        announce();
        now += 11s;  // one is due each time
        if (const auto check = publisher.check(now)) outbox.offer(*check);
        send(publisher.work());
        deliver();
    }
    finish();
    now += 11s;
    const auto check = publisher.check(now);
    ASSERT_TRUE(check);
    outbox.offer(*check);
    deliver();
    EXPECT_EQ(session.counters().check_failures, 0U);
    expect_in_step();
}

TEST_F(Large, HeartbeatsGoOnWhileASnapshotIsMadeAndNameTheGenerationSent) {
    deliver();
    while (publisher.busy()) publisher.work();
    deliver();
    expect_in_step();
    outbox.want_snapshot();
    change(100);
    send(publisher.announce(kNow));
    EXPECT_EQ(outbox.next(publisher, kNow), std::nullopt);
    const auto beat = outbox.next(publisher, kNow + 1s);
    ASSERT_TRUE(beat && std::holds_alternative<Heartbeat>(*beat));
    EXPECT_EQ(std::get<Heartbeat>(*beat).generation, session.replica().generation());
    session.on_message(*beat, kNow + 1s);
    EXPECT_TRUE(session.in_sync()) << "it is not to ask for what is on its way";
    finish();
    deliver();
    expect_in_step();
}

TEST_F(Large, GrowthTakesSlicesAndTheOldShapeIsKeptInStepMeanwhile) {
    deliver();
    finish();
    deliver();
    const auto epoch = publisher.own().epoch();
    std::uint64_t next = kMany;
    while (!publisher.own().growing()) {
        for (int i = 0; i < 5000; ++i) publisher.stored(key(next++), kNow);
        announce();
        deliver();
    }
    unsigned slices = 0;
    while (publisher.own().growing()) {
        ++slices;
        change(50);
        announce();
        send(publisher.work());
        ASSERT_NO_FATAL_FAILURE(deliver());
        if (!publisher.own().growing()) break;
        EXPECT_EQ(publisher.own().epoch(), epoch);
    }
    EXPECT_GT(slices, 30U);
    EXPECT_EQ(publisher.own().epoch(), epoch + 1);
    EXPECT_TRUE(session.in_sync());
    finish();
    deliver();
    expect_in_step();
}

TEST_F(Large, ASummaryThatIsEmptiedWhileItGrowsShrinksWithoutAnotherChange) {
    std::uint64_t next = kMany;
    while (!publisher.own().growing()) {
        for (int i = 0; i < 5000; ++i) publisher.stored(key(next++), kNow);
        announce();
    }
    while (publisher.own().growing()) {
        for (int i = 0; i < 5000 && next > 100; ++i) publisher.removed(key(--next), kNow);
        send(publisher.work());
        if (next == 100) break;
    }
    while (publisher.own().growing()) send(publisher.work());
    ASSERT_FALSE(publisher.announce_due()) << "the new epoch has it";
    finish();
    EXPECT_EQ(publisher.own().fit(), summary::Fit::fits);
    deliver();
    finish();
    deliver();
    expect_in_step();
}

TEST_F(Large, AnImageIsGivenUpWhenANewShapeIsThere) {
    std::uint64_t next = kMany;
    while (!publisher.own().growing()) {
        for (int i = 0; i < 5000; ++i) publisher.stored(key(next++), kNow);
        announce();
    }
    for (;;) {  // all but the last slices
        deliver();
        send(publisher.work());
        if (!publisher.own().growing()) break;
        change(5);
        announce();
        outbox.want_snapshot();
    }
    finish();
    deliver();
    finish();
    deliver();
    expect_in_step();
}

TEST_F(Large, ManyChangesAreAnnouncedInDeltasOfBoundedSize) {
    deliver();
    finish();
    deliver();
    const auto generation = publisher.own().generation();
    for (std::uint64_t i = 0; i < 3'000; ++i) publisher.removed(key(i), kNow);
    announce();
    EXPECT_GT(publisher.own().generation(), generation + 1);
    deliver();
    EXPECT_EQ(snapshots, 1U);
    expect_in_step();
}

TEST_F(Large, SubscribersWhoComeAtDifferentTimesShareWhatTheyCan) {
    deliver();
    Outbox second({1 << 24, 500ms}, kNow), late({1 << 24, 500ms}, kNow);
    EXPECT_EQ(publisher.image(), publisher.image()) << "nothing has changed since it was begun";
    change(100);
    announce();
    EXPECT_EQ(publisher.image(), nullptr) << "the one being made was begun too early for others";
    while (publisher.busy()) publisher.work();
    EXPECT_NE(publisher.image(), nullptr);
}

class LargeNeighbourhood : public ::testing::Test {
protected:
    LargeNeighbourhood() {
        for (unsigned i = 0; i < 8; ++i) {
            neighbours.add_peer(i, "n" + std::to_string(i));
            neighbours.place(i, {"127.0.0.1", 3128});
        }
    }

    static constexpr summary::Shape kShape{std::uint64_t{1} << 24, 4};
    static constexpr summary::Shape kLarger{std::uint64_t{1} << 25, 4};

    static void set(summary::Replica& replica, std::uint64_t number,
                    summary::Shape shape = kShape) {
        static std::uint64_t epoch = 1;
        replica.apply_snapshot(epoch++, 0, summary::test::filter_with(1000 * number, 1000, shape));
    }
    void add(unsigned peer) {
        set(replicas[peer], peer);
        neighbours.load(peer, replicas[peer]);
        neighbours.set_in_sync(peer, true);
    }
    unsigned finish() {
        unsigned slices = 0;
        for (; neighbours.busy(); ++slices) neighbours.work();
        return slices;
    }
    summary::PeerSet who_has(std::uint64_t number) {
        if (auto next = neighbours.take_view()) view = std::move(next);
        if (!view->directory) return {};
        return view->directory->candidates(asked(key(1000 * number)));
    }
    bool counts(unsigned peer) {
        if (auto next = neighbours.take_view()) view = std::move(next);
        return view->peers[peer].in_sync;
    }

    Neighbourhood neighbours;
    std::vector<summary::Replica> replicas{8};
    std::shared_ptr<const PeerView> view;
};

TEST_F(LargeNeighbourhood, APeerCountsWhenItIsInTheDirectoryThatIsHandedOut) {
    add(0);
    EXPECT_FALSE(counts(0));
    EXPECT_TRUE(who_has(0).empty());
    EXPECT_FALSE(neighbours.present(0));
    finish();
    EXPECT_TRUE(counts(0));
    EXPECT_EQ(who_has(0), summary::PeerSet{0});
}

TEST_F(LargeNeighbourhood, NewcomersDuringABuildShareTheNextDirectory) {
    add(0);
    for (unsigned i = 1; i < 8; ++i) add(i);
    ASSERT_TRUE(neighbours.busy());
    std::set<const summary::Directory*> seen;
    while (neighbours.busy()) {
        neighbours.work();
        who_has(0);
        if (view->directory) seen.insert(view->directory.get());
    }
    EXPECT_EQ(seen.size(), 2U) << "one directory for each peer would be quadratic work";
    for (unsigned i = 0; i < 8; ++i) EXPECT_EQ(who_has(i), summary::PeerSet{i});
}

TEST_F(LargeNeighbourhood, ChangesDuringABuildAreInTheDirectoryWhicheverPeerLeaves) {
    add(0);
    add(1);
    finish();
    add(2);
    neighbours.work();
    std::uint64_t generation = 0;
    while (neighbours.busy()) {
        summary::Delta delta;
        const auto position = 4096 * (generation % 2000) + 7;
        const bool is_set = bits_of(replicas[1]).get(position);
        (is_set ? delta.clear : delta.set).push_back(position);
        const auto payload = summary::test::payload_of(delta, kShape.bits);
        const auto done = replicas[1].apply_delta(replicas[1].epoch(), ++generation, payload);
        ASSERT_EQ(done.what, summary::ApplyResult::ok);
        neighbours.change(1, *done.change);
        if (generation == 2) {
            neighbours.end_feed(0);
            replicas[0] = {};
        }
        neighbours.work();
    }
    EXPECT_GT(generation, 2U);
    EXPECT_TRUE(who_has(0).empty());
    EXPECT_EQ(who_has(2), (summary::PeerSet{2}));
    const auto sort = summary::test::bloom(kShape);
    const std::vector<summary::Directory::Member> members{{1, sort, &replicas[1].filter()},
                                                          {2, sort, &replicas[2].filter()}};
    const summary::Directory whole(members);
    for (std::uint64_t i = 0; i < 20'000; ++i) {
        const auto any = asked(key(i));
        ASSERT_EQ(view->directory->candidates(any), whole.candidates(any)) << i;
    }
}

TEST_F(LargeNeighbourhood, APeerThatGrowsCountsWithItsOldBitsUntilTheNewOnesAreThere) {
    add(0);
    add(1);
    finish();
    ASSERT_EQ(who_has(1), (summary::PeerSet{1}));
    set(replicas[1], 5, kLarger);
    neighbours.load(1, replicas[1]);
    EXPECT_TRUE(counts(1));
    EXPECT_EQ(who_has(1), (summary::PeerSet{1}));
    finish();
    EXPECT_TRUE(counts(1));
    EXPECT_EQ(who_has(5), (summary::PeerSet{1}));
    EXPECT_TRUE(who_has(1).empty());
}

TEST_F(LargeNeighbourhood, APeerThatChangesShapeTwiceWhileItIsBuiltEndsWithTheLast) {
    add(0);
    set(replicas[0], 1, kLarger);
    neighbours.load(0, replicas[0]);
    neighbours.work();
    set(replicas[0], 2);
    neighbours.load(0, replicas[0]);
    finish();
    EXPECT_EQ(who_has(2), summary::PeerSet{0});
    EXPECT_TRUE(who_has(0).empty());
    EXPECT_TRUE(who_has(1).empty());
}

TEST_F(LargeNeighbourhood, AnotherThreadMayBeTheLastToLetADirectoryGo) {
    add(0);
    finish();
    who_has(0);
    std::thread reader([held = std::exchange(view, nullptr)]() mutable {
        std::uint64_t found = 0;
        for (std::uint64_t i = 0; i < 50'000; ++i)
            found += held->directory->candidates(asked(key(i))).size();
        held.reset();
        EXPECT_GE(found, 1000U);
    });
    set(replicas[0], 3, kLarger);
    neighbours.load(0, replicas[0]);
    finish();
    EXPECT_EQ(who_has(3), summary::PeerSet{0});
    reader.join();
    finish();  // what the reader has let go is taken apart here
    EXPECT_FALSE(neighbours.busy());
}

}  // namespace slices_test
}  // namespace protocol::test
