#include "summary/directory.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <deque>
#include <thread>

#include "summary/bloom_filter.hpp"
#include "summary/counting_bloom_filter.hpp"
#include "tests/summary/keys.hpp"

namespace summary {
namespace {

constexpr Shape kShape{20'032, 4};  // not a whole number of table words for any number of lanes
constexpr std::uint64_t kKeysEach = 1000;

/// Peers with a thousand keys each: peer p has those from p * 1000 on.
class Peers {
public:
    void add(unsigned peer, Shape shape) {
        filters_.emplace_back(peer, BloomFilter(shape));
        for (const auto key : keys_of(peer)) filters_.back().second.insert(key);
    }

    static std::vector<KeyHash> keys_of(unsigned peer) {
        return test::keys(peer * kKeysEach, kKeysEach);
    }

    std::vector<Directory::Member> members(bool loaded) const {
        std::vector<Directory::Member> result;
        for (const auto& [peer, filter] : filters_) {
            result.push_back({peer, filter.shape(), loaded ? &filter.bits() : nullptr});
        }
        return result;
    }

    void load(Directory& directory) const {
        for (const auto& [peer, filter] : filters_) directory.load(peer, filter.bits());
    }

    /// What the directory must answer: each filter asked on its own.
    std::uint64_t candidates(KeyHash key) const {
        std::uint64_t peers = 0;
        for (const auto& [peer, filter] : filters_) {
            if (filter.contains(key)) peers |= std::uint64_t{1} << peer;
        }
        return peers;
    }

    std::uint64_t all() const {
        std::uint64_t peers = 0;
        for (const auto& [peer, filter] : filters_) peers |= std::uint64_t{1} << peer;
        return peers;
    }

private:
    std::deque<std::pair<unsigned, BloomFilter>> filters_;
};

void expect_alike(const Directory& directory, const Peers& peers) {
    EXPECT_EQ(directory.active(), peers.all());
    for (const auto key : test::keys(0, 70'000)) {
        ASSERT_EQ(directory.candidates(key), peers.candidates(key));
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
        EXPECT_EQ(loaded.active(), 0U);
        peers.load(loaded);
        expect_alike(loaded, peers);
    }
}

TEST(Directory, HoldsPeersOfSeveralShapes) {
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
    EXPECT_EQ(filled.shape(9), (Shape{65'536, 4}));
    EXPECT_EQ(filled.shape(63), (Shape{1, 1}));
    EXPECT_EQ(filled.shape(8), Shape{});
    EXPECT_EQ(filled.shape(64), Shape{});
    Directory loaded(peers.members(false));
    peers.load(loaded);
    expect_alike(loaded, peers);
}

TEST(Directory, OfNobodyHasNoCandidates) {
    const Directory directory({});
    EXPECT_EQ(directory.candidates(test::key(1)), 0U);
    EXPECT_EQ(directory.memory_bytes(), 0U);
}

TEST(Directory, RoundsLanesUpToAPowerOfTwo) {
    Peers peers;
    for (unsigned i = 0; i < 5; ++i) peers.add(i, {6400, 4});
    EXPECT_EQ(Directory(peers.members(false)).memory_bytes(), 6400 * 8 / 8);
}

TEST(Directory, FollowsDeltas) {
    Peers peers;
    for (unsigned i = 0; i < 5; ++i) peers.add(i, kShape);
    Directory directory(peers.members(true));
    CountingBloomFilter owner(kShape);
    std::vector<Flip> flips;
    for (const auto key : Peers::keys_of(2)) owner.insert(key, flips);
    flips.clear();
    for (const auto key : test::keys(100'000, 500)) owner.insert(key, flips);
    for (const auto key : test::keys(2 * kKeysEach, 700)) owner.erase(key, flips);
    directory.apply(2, net_effect(flips));
    for (const auto key : test::keys(0, 101'000)) {
        const auto others = peers.candidates(key) & ~std::uint64_t{4};
        ASSERT_EQ(directory.candidates(key), others | (owner.contains(key) ? 4U : 0U));
    }
}

TEST(Directory, ADroppedPeerCountsAgainOnceItIsLoaded) {
    Peers peers;
    for (unsigned i = 0; i < 3; ++i) peers.add(i, kShape);
    Directory directory(peers.members(true));
    directory.drop(1);
    EXPECT_EQ(directory.active(), 0b101U);
    for (const auto key : test::keys(0, 5000)) {
        ASSERT_EQ(directory.candidates(key), peers.candidates(key) & 0b101U);
    }
    directory.drop(1);
    directory.apply(1, Delta{{5}, {6}});  // late, harmless
    peers.load(directory);
    expect_alike(directory, peers);
}

// Readers look for keys that never leave while the writer changes everything around them. What TSan
// checks here is that the bits are shared without a data race.
TEST(Directory, ReadersNeedNoLockWhileTheWriterWrites) {
    constexpr unsigned kSteady = 2;    // never touched
    constexpr unsigned kChanging = 0;  // gets deltas
    constexpr unsigned kComing = 1;    // comes and goes
    Peers peers;
    for (const auto peer : {kSteady, kChanging, kComing}) peers.add(peer, kShape);
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
            if ((directory.candidates(steady[at]) & (1U << kSteady)) == 0) ++misses;
            if ((directory.candidates(kept[at]) & (1U << kChanging)) == 0) ++misses;
            ++lookups;
        }
    };
    std::thread one(read, 0);
    std::thread other(read, 500);
    const BitArray empty(kShape.bits);
    for (unsigned round = 0; round < 300; ++round) {
        flips.clear();
        for (const auto key : test::keys(200'000 + round * 50, 50)) owner.insert(key, flips);
        if (round > 0) {
            for (const auto key : test::keys(200'000 + (round - 1) * 50, 50))
                owner.erase(key, flips);
        }
        directory.apply(kChanging, net_effect(flips));
        if (round % 10 == 0) directory.drop(kComing);
        if (round % 10 == 5) directory.load(kComing, round % 20 == 5 ? empty : owner.bits());
    }
    done = true;
    one.join();
    other.join();
    EXPECT_EQ(misses, 0U);
    EXPECT_EQ(directory.active(), 0b111U);
    for (const auto key : test::keys(0, 3000)) {
        ASSERT_EQ((directory.candidates(key) & (1U << kChanging)) != 0, owner.contains(key));
    }
}

}  // namespace
}  // namespace summary
