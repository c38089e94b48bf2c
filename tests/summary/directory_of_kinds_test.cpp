// The directory of peers that announce fingerprints, alone and beside those of other kinds.

#include <gtest/gtest.h>

#include <atomic>
#include <deque>
#include <optional>
#include <thread>
#include <vector>

#include "summary/coding/snapshot_reader.hpp"
#include "summary/directory/directory.hpp"
#include "summary/directory/replica.hpp"
#include "summary/own/own_summary.hpp"
#include "tests/summary/keys.hpp"

namespace summary {
namespace directory_of_kinds_test {

using test::asked;
using test::key;
using test::kNoLimit;

/// A peer that stores keys and is followed by a replica.
class Peer {
public:
    Peer(Kind kind, unsigned peer) : number(peer), first_(peer * 10'000), next_(first_) {
        OwnSummaryConfig config;
        config.kind = kind;
        config.error = 0.001;
        config.expected_objects = 3'000;
        own_.emplace(config);
        change(2'000);
        while (!own_->all_announced()) own_->take_delta(kNoLimit);
        join();
    }

    /// So many more, and half as many less.
    void change(std::uint64_t count) {
        for (std::uint64_t i = 0; i < count; ++i) {
            own_->stored(key(next_++));
            if (i % 2 == 0) own_->removed(key(first_++));
        }
    }
    void join() {
        std::vector<std::byte> payload;
        OwnSummary::SnapshotWriter writer(*own_, payload);
        while (!writer.step(*own_)) continue;
        SnapshotReader reader(own_->descriptor());
        ASSERT_TRUE(reader.take(payload));
        ASSERT_EQ(replica.apply_snapshot(own_->epoch(), own_->generation(), *reader.finish()),
                  ApplyResult::ok);
    }
    /// Whether the replica matches the key, wherever its filter is.
    bool matches(KeyHash hash) const {
        if (const auto* const keeper = replica.keeper())
            return keeper->candidates(asked(hash)).contains(number);
        return contains(replica.filter(), asked(hash));
    }
    /// The changes that the replica has followed since.
    Change announce() {
        const auto payload = own_->take_delta(kNoLimit);
        auto applied = replica.apply_delta(own_->epoch(), own_->generation(), *payload);
        EXPECT_EQ(applied.what, ApplyResult::ok);
        return std::move(*applied.change);
    }
    Directory::Member member() const { return {number, replica.descriptor(), &replica.filter()}; }
    ApplyResult check() {
        return replica.check(own_->epoch(), own_->generation(), own_->check_hash());
    }
    std::uint64_t first() const { return first_; }
    std::uint64_t next() const { return next_; }

    unsigned number;
    Replica replica;

private:
    std::uint64_t first_;
    std::uint64_t next_;
    std::optional<OwnSummary> own_;
};

class Peers {
public:
    explicit Peers(const std::vector<Kind>& kinds) {
        for (const auto kind : kinds) {
            all.emplace_back(kind, static_cast<unsigned>(all.size() * 7 + 1));
        }
    }
    std::vector<Directory::Member> members() const {
        std::vector<Directory::Member> result;
        for (const auto& peer : all) result.push_back(peer.member());
        return result;
    }
    /// Each replica asked on its own.
    void expect_alike(const Directory& directory) const {
        for (const auto& some : all) {
            for (auto i = some.first() - 200; i < some.next() + 2'000; i += 3) {
                PeerSet expected;
                for (const auto& peer : all) {
                    if (peer.matches(key(i))) expected.insert(peer.number);
                }
                ASSERT_EQ(directory.candidates(asked(key(i))), expected);
            }
        }
    }

    std::deque<Peer> all;
};

class DirectoryOfKinds : public testing::TestWithParam<std::vector<Kind>> {};

TEST_P(DirectoryOfKinds, AnswersAsEachReplicaAndFollows) {
    Peers peers(GetParam());
    Directory directory(peers.members());
    EXPECT_EQ(directory.active().size(), peers.all.size());
    peers.expect_alike(directory);
    for (int round = 0; round < 5; ++round) {
        for (auto& peer : peers.all) {
            peer.change(100);
            directory.apply(peer.number, peer.announce());
        }
        peers.expect_alike(directory);
    }
    auto& again = peers.all.front();
    directory.drop(again.number);
    again.change(300);
    again.announce();
    again.join();
    directory.load(again.number, again.replica.filter());
    peers.expect_alike(directory);
    while (!directory.release(1 << 12)) continue;
}

TEST_P(DirectoryOfKinds, IsLoadedInSlicesWhilePeersGoOn) {
    Peers peers(GetParam());
    const auto members = peers.members();
    Directory directory(members, Directory::InSlices{});
    EXPECT_TRUE(directory.active().empty());
    unsigned slices = 1;
    while (!directory.load_some(1)) {
        if (++slices % 12 != 0) continue;
        auto& peer = peers.all[slices / 12 % peers.all.size()];
        peer.change(20);
        directory.apply(peer.number, peer.announce());
    }
    EXPECT_EQ(directory.active().size(), peers.all.size());
    peers.expect_alike(directory);
    // A snapshot in the place of the earlier content, in slices.
    auto& again = peers.all.back();
    again.change(100);
    again.announce();
    directory.begin_load(again.number, again.replica.filter());
    while (!directory.load_some(1)) continue;
    peers.expect_alike(directory);
}

INSTANTIATE_TEST_SUITE_P(
    Mixed, DirectoryOfKinds,
    testing::Values(std::vector<Kind>{Kind::quotient},
                    std::vector<Kind>{Kind::cuckoo, Kind::cuckoo, Kind::cuckoo},
                    std::vector<Kind>{Kind::quotient, Kind::counting_bloom, Kind::cuckoo,
                                      Kind::quotient, Kind::quotient}));

TEST(DirectoryOfFingerprints, TakesInWhoFindsALaneToSpare) {
    Peers peers({Kind::quotient, Kind::quotient, Kind::quotient});
    Directory directory(peers.members());
    auto& newcomer = peers.all.emplace_back(Kind::quotient, 50);
    ASSERT_TRUE(directory.adopt(50, newcomer.replica.descriptor()));
    EXPECT_FALSE(directory.is_active(50));
    EXPECT_TRUE(directory.candidates(asked(key(newcomer.first()))).empty());
    directory.load(50, newcomer.replica.filter());
    peers.expect_alike(directory);
    const Peer another(Kind::quotient, 51);
    EXPECT_FALSE(directory.adopt(51, another.replica.descriptor())) << "four lanes";
}

TEST(DirectoryOfFingerprints, IsWhereAFilterMayMove) {
    Peers peers({Kind::quotient, Kind::cuckoo, Kind::quotient});
    Directory directory(peers.members());
    EXPECT_FALSE(directory.keeps_filter(peers.all[1].number)) << "a cuckoo filter's bits only";
    auto& moves = peers.all[2];
    moves.replica.move_to(directory, moves.number);
    EXPECT_EQ(moves.replica.keeper(), &directory);
    for (int round = 0; round < 3; ++round) {
        for (auto& peer : peers.all) {
            peer.change(100);
            const auto change = peer.announce();
            if (peer.replica.keeper() == nullptr) directory.apply(peer.number, change);
            EXPECT_EQ(peer.check(), ApplyResult::ok);
        }
        peers.expect_alike(directory);
    }
    // Another directory takes it from the first.
    std::vector<Directory::Member> members{peers.all[0].member()};
    members.push_back({moves.number, moves.replica.descriptor(), nullptr, &directory});
    Directory next(members, Directory::InSlices{});
    while (!next.load_some(1)) continue;
    ASSERT_TRUE(next.keeps_filter(moves.number));
    moves.replica.move_to(next, moves.number);
    moves.change(100);
    moves.announce();
    EXPECT_EQ(moves.check(), ApplyResult::ok);
    EXPECT_TRUE(next.candidates(asked(key(moves.next() - 1))).contains(moves.number));
    // A snapshot is a filter of its own again.
    moves.join();
    EXPECT_EQ(moves.replica.keeper(), nullptr);
    EXPECT_EQ(moves.check(), ApplyResult::ok);
}

/// A reader never misses a key that its peer keeps, whatever comes and goes, and through snapshots
/// (a cuckoo filter that is being loaded does not count meanwhile).
TEST(DirectoryOfFingerprints, ReadersNeedNoLockWhileTheWriterWrites) {
    Peers peers({Kind::quotient, Kind::cuckoo});
    Directory directory(peers.members());
    const auto kept = peers.all[0].next() - 1;
    const auto also_kept = peers.all[1].next() - 1;
    std::atomic<bool> done{false};
    std::atomic<std::uint64_t> looked{0};
    std::uint64_t missed = 0;
    std::thread reader([&] {
        while (!done) {
            if (!directory.candidates(asked(key(kept))).contains(peers.all[0].number)) ++missed;
            if (!directory.candidates(asked(key(also_kept))).contains(peers.all[1].number)) {
                ++missed;
            }
            ++looked;
        }
    });
    for (int round = 0; round < 40 || looked < 2'000; ++round) {
        for (auto& peer : peers.all) {
            if (peer.first() + 200 < (peer.number == 1 ? kept : also_kept)) {
                peer.change(20);
                directory.apply(peer.number, peer.announce());
            }
            peer.join();
            if (peer.number != 1) continue;
            directory.load(peer.number, peer.replica.filter());
        }
    }
    done = true;
    reader.join();
    EXPECT_EQ(missed, 0U);
}

}  // namespace directory_of_kinds_test
}  // namespace summary
