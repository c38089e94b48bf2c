#include "summary/directory/directory.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <bit>
#include <deque>
#include <thread>

#include "summary/filters/bloom_filter.hpp"
#include "summary/filters/counting_bloom_filter.hpp"
#include "tests/summary/bloom.hpp"
#include "tests/summary/keys.hpp"

namespace summary {
namespace directory_test {

constexpr Shape kShape{20'032, 4};  // not a whole number of table words for any number of lanes
constexpr std::uint64_t kKeysEach = 1000;

/// Peers with a thousand keys each: peer p has those from p * 1000 on.
class Peers {
public:
    void add(unsigned peer, Shape shape) {
        filters_.emplace_back(peer, test::filter_with(peer * kKeysEach, kKeysEach, shape));
    }

    static std::vector<KeyHash> keys_of(unsigned peer) {
        return test::keys(peer * kKeysEach, kKeysEach);
    }

    std::vector<Directory::Member> members(bool loaded) const {
        std::vector<Directory::Member> result;
        for (const auto& [peer, filter] : filters_) {
            result.push_back({peer, descriptor_of(filter), loaded ? &filter : nullptr});
        }
        return result;
    }

    void load(Directory& directory) const {
        for (const auto& [peer, filter] : filters_) directory.load(peer, filter);
    }

    /// The answer that the directory must give: each filter asked on its own.
    PeerSet candidates(KeyHash key) const {
        PeerSet peers;
        for (const auto& [peer, filter] : filters_) {
            if (contains(filter, test::asked(key))) peers.insert(peer);
        }
        return peers;
    }

    PeerSet all() const {
        PeerSet peers;
        for (const auto& [peer, filter] : filters_) peers.insert(peer);
        return peers;
    }

private:
    std::deque<std::pair<unsigned, Filter>> filters_;
};

void expect_alike(const Directory& directory, const Peers& peers, std::uint64_t keys = 70'000) {
    EXPECT_EQ(directory.active(), peers.all());
    for (const auto key : test::keys(0, keys)) {
        ASSERT_EQ(directory.candidates(test::asked(key)), peers.candidates(key));
    }
}

TEST(Directory, AnswersAsEachFilterWouldForAnyNumberOfPeers) {
    for (const unsigned count : {1, 2, 3, 4, 5, 8, 9, 16, 17, 33, 64}) {
        SCOPED_TRACE(testing::Message() << count << " peers");
        Peers peers;
        for (unsigned i = 0; i < count; ++i) peers.add((i * 37 + 5) % 64, kShape);
        const Directory filled(peers.members(true));
        expect_alike(filled, peers);
        Directory loaded(peers.members(false));
        EXPECT_TRUE(loaded.active().empty());
        peers.load(loaded);
        expect_alike(loaded, peers);
    }
}

// More than a word of lanes, and more than a cache line of words; numbers up to the highest.
TEST(Directory, TakesSeveralWordsForMoreThan64PeersOfOneShape) {
    for (const unsigned count : {65, 128, 513, 1024}) {
        SCOPED_TRACE(testing::Message() << count << " peers");
        Peers peers;
        for (unsigned i = 0; i < count; ++i) peers.add((i * 37 + 1023) % kMaxPeers, kShape);
        const Directory filled(peers.members(true));
        expect_alike(filled, peers, 1'500);
        EXPECT_EQ(filled.memory_bytes(), kShape.bits * ((count + 63) / 64) * 8);
        Directory loaded(peers.members(false));
        EXPECT_TRUE(loaded.active().empty());
        peers.load(loaded);
        expect_alike(loaded, peers, 1'500);
    }
}

TEST(Directory, OfManyPeersHasThoseOfOtherShapesToo) {
    Peers peers;
    for (unsigned i = 0; i < 200; ++i) peers.add(i, i % 3 == 0 ? Shape{9'984, 5} : kShape);
    peers.add(1023, {65'536, 4});
    const Directory filled(peers.members(true));
    expect_alike(filled, peers, 20'000);
    EXPECT_EQ(filled.descriptor(1023), test::bloom({65'536, 4}));
    EXPECT_EQ(filled.descriptor(1022), Descriptor());
}

TEST(Directory, HasPeersOfSeveralShapes) {
    Peers peers;
    peers.add(63, {1, 1});  // says yes to everything
    peers.add(0, {20'032, 5});
    peers.add(7, {20'032, 4});
    peers.add(9, {65'536, 4});
    peers.add(11, {20'032, 4});
    peers.add(40, {64, kMaxHashes});
    peers.add(41, {30'001, 1});
    const Directory filled(peers.members(true));
    expect_alike(filled, peers);
    EXPECT_EQ(filled.descriptor(9), test::bloom({65'536, 4}));
    EXPECT_EQ(filled.descriptor(63), test::bloom({1, 1}));
    EXPECT_EQ(filled.descriptor(8), Descriptor());
    EXPECT_EQ(filled.descriptor(64), Descriptor());
    EXPECT_EQ(filled.descriptor(kMaxPeers), Descriptor());
    Directory loaded(peers.members(false));
    peers.load(loaded);
    expect_alike(loaded, peers);
}

TEST(Directory, OfNobodyHasNoCandidates) {
    const Directory directory({});
    EXPECT_TRUE(directory.candidates(test::asked(test::key(1))).empty());
    EXPECT_EQ(directory.memory_bytes(), 0U);
}

TEST(Directory, RoundsLanesUpToAPowerOfTwo) {
    Peers peers;
    for (unsigned i = 0; i < 5; ++i) peers.add(i, {6400, 4});
    EXPECT_EQ(Directory(peers.members(false)).memory_bytes(), 6400 * 8 / 8);
}

TEST(Directory, FollowsDeltas) {
    for (const unsigned count : {5, 100}) {
        SCOPED_TRACE(testing::Message() << count << " peers");
        const auto who = count - 3;
        Peers peers;
        for (unsigned i = 0; i < count; ++i) peers.add(i, kShape);
        Directory directory(peers.members(true));
        CountingBloomFilter owner(kShape);
        std::vector<Flip> flips;
        for (const auto key : Peers::keys_of(who)) owner.insert(key, flips);
        flips.clear();
        for (const auto key : test::keys(500'000, 500)) owner.insert(key, flips);
        for (const auto key : test::keys(who * kKeysEach, 700)) owner.erase(key, flips);
        directory.apply(who, net_effect(flips));
        const auto expect_followed = [&](std::uint64_t from, std::uint64_t keys) {
            const BloomFilter announced(owner.shape(), owner.bits());
            for (const auto key : test::keys(from, keys)) {
                auto expected = peers.candidates(key) - PeerSet{who};
                if (announced.contains(key)) expected.insert(who);
                ASSERT_EQ(directory.candidates(test::asked(key)), expected);
            }
        };
        expect_followed(0, 5'000);
        expect_followed(who * kKeysEach, 2'000);
        expect_followed(500'000, 1'000);
    }
}

TEST(Directory, ADroppedPeerCountsAgainOnceItIsLoaded) {
    Peers peers;
    for (unsigned i = 0; i < 3; ++i) peers.add(i, kShape);
    Directory directory(peers.members(true));
    directory.drop(1);
    EXPECT_EQ(directory.active(), (PeerSet{0, 2}));
    EXPECT_FALSE(directory.is_active(1));
    EXPECT_TRUE(directory.is_active(2));
    EXPECT_FALSE(directory.is_active(64));
    for (const auto key : test::keys(0, 5000)) {
        ASSERT_EQ(directory.candidates(test::asked(key)), peers.candidates(key) - PeerSet{1});
    }
    directory.drop(1);
    directory.apply(1, Delta{{5}, {6}});  // late, harmless
    peers.load(directory);
    expect_alike(directory, peers);
}

TEST(Directory, TakesInWhoFindsALaneToSpare) {
    for (const unsigned count : {5, 70}) {  // of 8 lanes, of 128
        SCOPED_TRACE(testing::Message() << count << " peers");
        Peers peers;
        for (unsigned i = 0; i < count; ++i) peers.add(i, kShape);
        Directory directory(peers.members(true));
        const auto bytes = directory.memory_bytes();
        EXPECT_FALSE(directory.adopt(0, test::bloom(kShape))) << "it is a member";
        EXPECT_FALSE(directory.adopt(1023, test::bloom({6400, 4}))) << "nobody has that shape";
        ASSERT_TRUE(directory.adopt(1023, test::bloom(kShape)));
        EXPECT_EQ(directory.descriptor(1023), test::bloom(kShape));
        EXPECT_FALSE(directory.is_active(1023));
        EXPECT_FALSE(directory.adopt(1023, test::bloom(kShape)));
        peers.add(1023, kShape);
        directory.load(1023, *peers.members(true).back().filter);
        expect_alike(directory, peers, count * kKeysEach);
        for (const auto key : Peers::keys_of(1023)) {
            ASSERT_TRUE(directory.candidates(test::asked(key)).contains(1023));
        }
        // Its next statement is not laid over its first.
        const Filter nothing = BloomFilter(kShape);
        directory.load(1023, nothing);
        for (const auto key : Peers::keys_of(1023)) {
            ASSERT_FALSE(directory.candidates(test::asked(key)).contains(1023));
        }
        for (auto next = count + 1; next < std::bit_ceil(count); ++next) {
            ASSERT_TRUE(directory.adopt(next, test::bloom(kShape)));
        }
        EXPECT_FALSE(directory.adopt(1000, test::bloom(kShape))) << "all lanes are taken";
        EXPECT_EQ(directory.memory_bytes(), bytes);
    }
}

// Readers look for keys that never leave while the writer changes everything around them. TSan
// checks here that the bits are shared without a data race.
void read_while_written(const std::vector<unsigned>& others) {
    constexpr unsigned kSteady = 2;    // never touched
    constexpr unsigned kChanging = 0;  // gets deltas
    constexpr unsigned kComing = 1;    // comes and goes
    constexpr unsigned kNew = 200;     // takes a spare lane
    Peers peers;
    for (const auto peer : {kSteady, kChanging, kComing}) peers.add(peer, kShape);
    for (const auto peer : others) peers.add(peer, kShape);
    Directory directory(peers.members(true));
    CountingBloomFilter owner(kShape);
    std::vector<Flip> flips;
    for (const auto key : Peers::keys_of(kChanging)) owner.insert(key, flips);

    std::atomic<bool> done = false;
    std::atomic<std::uint64_t> lookups = 0;
    std::atomic<std::uint64_t> misses = 0;
    const auto read = [&](unsigned first) {
        const auto steady = Peers::keys_of(kSteady);
        const auto kept = Peers::keys_of(kChanging);
        for (std::size_t i = first; !done || lookups < 10'000; ++i) {
            const auto at = i % kKeysEach;
            if (!directory.candidates(test::asked(steady[at])).contains(kSteady)) ++misses;
            if (!directory.candidates(test::asked(kept[at])).contains(kChanging)) ++misses;
            ++lookups;
        }
    };
    std::thread one(read, 0);
    std::thread other(read, 500);
    const Filter empty = BloomFilter(kShape);
    const auto held = [&] { return Filter(BloomFilter(kShape, owner.bits())); };
    for (unsigned round = 0; round < 300; ++round) {
        flips.clear();
        for (const auto key : test::keys(200'000 + round * 50, 50)) owner.insert(key, flips);
        if (round > 0) {
            for (const auto key : test::keys(200'000 + (round - 1) * 50, 50))
                owner.erase(key, flips);
        }
        directory.apply(kChanging, net_effect(flips));
        if (round % 10 == 0) directory.drop(kComing);
        if (round % 10 == 5) directory.load(kComing, round % 20 == 5 ? empty : held());
        if (round == 150) {
            ASSERT_TRUE(directory.adopt(kNew, test::bloom(kShape)));
            directory.load(kNew, held());
        }
    }
    done = true;
    one.join();
    other.join();
    EXPECT_EQ(misses, 0U);
    EXPECT_EQ(directory.active(), peers.all() | PeerSet{kNew});
    const BloomFilter announced(owner.shape(), owner.bits());
    for (const auto key : test::keys(0, 3000)) {
        ASSERT_EQ(directory.candidates(test::asked(key)).contains(kChanging),
                  announced.contains(key));
    }
}

TEST(Directory, ReadersNeedNoLockWhileTheWriterWrites) {
    read_while_written({});
}

TEST(Directory, ReadersOfSeveralWordsNeedNoLockEither) {
    std::vector<unsigned> others;
    for (unsigned peer = 3; peer < 100; ++peer) others.push_back(peer);
    read_while_written(others);
}

}  // namespace directory_test
}  // namespace summary
