#include "summary/own/own_fingerprints.hpp"

#include <gtest/gtest.h>

#include <iostream>
#include <map>
#include <set>

#include "summary/filters/quotient_filter.hpp"
#include "tests/summary/fingerprints.hpp"
#include "tests/summary/keys.hpp"

namespace summary {
namespace own_fingerprints_test {

using test::key;
using test::kNoLimit;
using test::Random;
using Numbers = std::vector<std::uint64_t>;

QuotientFilter replica_of(const Bytes& snapshot, const FingerprintShape& shape) {
    QuotientSnapshotDecoder decoder(std::get<QuotientShape>(shape));
    EXPECT_TRUE(decoder.take(snapshot));
    auto filter = decoder.finish();
    EXPECT_TRUE(filter);
    return std::move(*filter);
}

Bytes snapshot_of(OwnFingerprints& own) {
    Bytes out;
    own.begin_snapshot(out);
    EXPECT_TRUE(own.write_some(~std::uint64_t{0}));
    return out;
}

/// As a receiver does it: from the bytes.
bool follow(QuotientFilter& replica, const OwnFingerprints::Change& change) {
    Bytes payload;
    encode_ranked_delta(change.delta.added, change.ranks, replica.shape().universe, change.objects,
                        payload);
    const auto delta = decode_ranked_delta(payload, replica);
    return delta && *delta == change.delta && apply(*delta, replica);
}

TEST(KeyTable, KeepsKeysInOrderAndKnowsTheirRanks) {
    Random random(1);
    KeyTable table;
    std::map<std::uint64_t, KeyHash> by_high;  // keys of one shard
    const auto some_key = [&] {
        return KeyHash{0, std::uint64_t{5} << (64 - kKeyShardsLog2) | random() >> 10};
    };
    const auto check = [&] {
        ASSERT_EQ(table.size(), by_high.size());
        auto next = by_high.begin();
        std::uint64_t rank = 0;
        table.for_each([&](KeyHash key) {
            ASSERT_NE(next, by_high.end());
            ASSERT_EQ(key, next->second);
            ASSERT_EQ(table.rank(key.high), rank);
            ASSERT_EQ(table.rank(key.high + 1), rank + 1);
            ++next;
            ++rank;
        });
        ASSERT_EQ(next, by_high.end());
    };
    for (int i = 0; i < 20'000; ++i) {
        const bool filling = i / 5'000 % 2 == 0;
        if (filling ? !random.one_in(4) : random.one_in(4)) {
            const auto come = some_key();
            ASSERT_FALSE(table.erase(come));
            ASSERT_TRUE(table.insert(come));
            ASSERT_FALSE(table.insert(come));
            by_high[come.high] = come;
        } else if (!by_high.empty()) {
            auto gone = by_high.lower_bound(some_key().high);
            if (gone == by_high.end()) gone = by_high.begin();
            ASSERT_FALSE(table.insert(gone->second));
            ASSERT_TRUE(table.erase(gone->second));
            ASSERT_FALSE(table.erase(gone->second));
            by_high.erase(gone);
        }
        if (i % 1'000 == 0) check();
    }
    check();
    KeyTable zero;
    EXPECT_TRUE(zero.insert({0, 0}));
    EXPECT_FALSE(zero.insert({0, 0}));
    EXPECT_EQ(zero.size(), 1U);
    EXPECT_TRUE(zero.erase({0, 0}));
    EXPECT_FALSE(zero.erase({0, 0}));
}

TEST(KeyTable, TakesKeysThatAreAllButAlike) {
    // No hash gives this, but it must end: all in the last places of the table.
    constexpr std::uint64_t kLowest = ~std::uint64_t{499};
    KeyTable table;
    for (std::uint64_t i = 0; i < 500; ++i) ASSERT_TRUE(table.insert({0, kLowest + i}));
    EXPECT_EQ(table.rank(kLowest), 0U);
    EXPECT_EQ(table.rank(kLowest + 499), 499U);
    for (std::uint64_t i = 0; i < 500; ++i) ASSERT_TRUE(table.erase({0, kLowest + i}));
    EXPECT_EQ(table.size(), 0U);
}

TEST(KeyTable, TakesAboutTenBytesAKey) {
    Random random(2);
    KeyTable table;
    double sum = 0;
    int samples = 0;
    while (table.size() < 4'000) {
        table.insert({random(), random() >> kKeyShardsLog2});
        if (table.size() < 1'000) continue;
        sum += static_cast<double>(table.memory_bytes()) / static_cast<double>(table.size());
        ++samples;
    }
    EXPECT_LT(sum / samples, 10.5);
}

/// An owner, the keys it should have, and subscribers that follow from different snapshots.
class OwnModel {
public:
    OwnModel(const FingerprintShape& shape, std::uint64_t seed) : own(shape, 7), random_(seed) {
        join();
    }

    void step() {
        switch (random_.below(12)) {
            case 0:
                announce(1 + random_.below(200));
                break;
            case 1:
                announce(kNoLimit);
                break;
            case 2:
                if (!writing_) {
                    own.begin_snapshot(payload_ = {});
                    writing_ = own.generation();
                    since_.clear();
                }
                break;
            case 3:
            case 4:
                if (writing_) write();
                break;
            case 5:
                if (random_.one_in(20) && !own.growing()) own.begin_regrow(next_shape());
                if (own.growing() && own.grow_some(1 + random_.below(400))) {
                    ++epochs;
                    writing_.reset();
                    join();
                }
                break;
            default:
                change(1 + random_.below(40));
        }
    }

    void check() {
        while (!own.all_announced()) announce(kNoLimit);
        Numbers expected;
        for (const auto number : keys_) expected.push_back(fingerprint(key(number), own.shape()));
        std::sort(expected.begin(), expected.end());
        ASSERT_EQ(own.objects(), keys_.size());
        ASSERT_EQ(test::fingerprints_of(*replica_), expected);
        ASSERT_EQ(own.check_hash(), replica_->check_hash());
        for (const auto number : keys_) ASSERT_FALSE(own.stored(key(number)));
    }

    OwnFingerprints own;
    unsigned epochs = 0;
    unsigned snapshots = 0;

private:
    FingerprintShape next_shape() {
        return quotient_shape_for(6'000 + random_.below(6'000), random_.one_in(2) ? 0.05 : 0.001);
    }
    void join() { replica_ = replica_of(snapshot_of(own), own.shape()); }
    void announce(std::uint64_t changes) {
        const auto change = own.take_delta(changes);
        ASSERT_TRUE(change);
        ASSERT_TRUE(follow(*replica_, *change));
        ASSERT_EQ(own.check_hash(), replica_->check_hash());
        if (writing_) since_.push_back(*change);
    }
    void write() {
        if (!own.write_some(1 + random_.below(900))) return;
        // A receiver of it can follow from the generation of its start.
        auto newcomer = replica_of(payload_, own.shape());
        for (const auto& change : since_) ASSERT_TRUE(follow(newcomer, change));
        ASSERT_EQ(test::fingerprints_of(newcomer), test::fingerprints_of(*replica_));
        writing_.reset();
        ++snapshots;
    }
    void change(std::uint64_t count) {
        if (random_.one_in(150)) importing_ = !importing_;
        for (std::uint64_t i = 0; i < count; ++i) {
            const auto number = random_.below(6'000);
            if (importing_ ? !random_.one_in(4) : random_.one_in(8)) {
                ASSERT_EQ(own.stored(key(number)), keys_.insert(number).second);
            } else {
                ASSERT_EQ(own.removed(key(number)), keys_.erase(number) == 1);
            }
        }
    }

    Random random_;
    std::set<std::uint64_t> keys_;
    std::optional<QuotientFilter> replica_;
    Bytes payload_;
    std::optional<std::uint64_t> writing_;
    std::vector<OwnFingerprints::Change> since_;
    bool importing_ = true;
};

TEST(OwnFingerprints, SubscribersHaveWhatIsAnnouncedWhateverIsGoingOn) {
    // At first so narrow that many keys share a fingerprint.
    OwnModel model(QuotientShape{8'192, 1, 8'000}, 2);
    for (int i = 0; i < 8'000; ++i) {
        model.step();
        if (HasFatalFailure()) FAIL() << "at step " << i;
        if (i % 400 == 0) model.check();
    }
    model.check();
    EXPECT_GT(model.epochs, 2U);
    EXPECT_GT(model.snapshots, 20U);
}

TEST(OwnFingerprints, ChangesThatCancelOutAreNotAnnounced) {
    OwnFingerprints own(quotient_shape_for(1'000, 0.001), 1);
    own.stored(key(1));
    own.stored(key(2));
    own.removed(key(1));
    EXPECT_EQ(own.changed_since_announced(), 2U);
    auto change = own.take_delta(kNoLimit);
    ASSERT_TRUE(change);
    EXPECT_EQ(change->delta, (FingerprintDelta{{fingerprint(key(2), own.shape())}, {}}));
    EXPECT_EQ(own.generation(), 1U);
    own.removed(key(2));
    own.stored(key(2));
    change = own.take_delta(kNoLimit);
    ASSERT_TRUE(change);
    EXPECT_TRUE(change->delta.empty());
    EXPECT_EQ(change->objects, 1U);
    own.removed(key(2));
    change = own.take_delta(kNoLimit);
    ASSERT_TRUE(change);
    EXPECT_EQ(change->ranks, Numbers{0});
    EXPECT_EQ(own.check_hash(), 0U);
}

TEST(OwnFingerprints, TooMuchChangeIsAnnouncedByASnapshot) {
    OwnFingerprints own(quotient_shape_for(20'000, 0.001), 1);
    for (std::uint64_t i = 0; i < 20'000; ++i) own.stored(key(i));
    EXPECT_FALSE(own.all_announced());
    const auto early = replica_of(snapshot_of(own), own.shape());
    EXPECT_EQ(early.check_hash(), own.check_hash());
    EXPECT_EQ(own.take_delta(kNoLimit), std::nullopt) << "nobody could follow it";
    EXPECT_EQ(own.generation(), 1U);
    EXPECT_TRUE(own.all_announced());
    auto replica = replica_of(snapshot_of(own), own.shape());
    EXPECT_EQ(replica.size(), 20'000U);
    EXPECT_EQ(replica.check_hash(), own.check_hash());
    own.removed(key(3));
    ASSERT_TRUE(follow(replica, *own.take_delta(kNoLimit)));
    EXPECT_EQ(replica.check_hash(), own.check_hash());
}

TEST(OwnFingerprints, TooMuchChangeDoesNotSpoilASnapshotUnderWay) {
    OwnFingerprints own(quotient_shape_for(20'000, 0.001), 1);
    for (std::uint64_t i = 0; i < 3'000; ++i) own.stored(key(i));
    own.take_delta(kNoLimit);
    const auto check = own.check_hash();
    Bytes payload;
    own.begin_snapshot(payload);
    EXPECT_FALSE(own.write_some(1'000));
    for (std::uint64_t i = 3'000; i < 20'000; ++i) own.stored(key(i));
    for (std::uint64_t i = 0; i < 500; ++i) own.removed(key(i));
    EXPECT_FALSE(own.write_some(1'000));
    auto delta = own.take_delta(kNoLimit);
    ASSERT_TRUE(delta);
    while (!own.write_some(1'000)) continue;
    auto replica = replica_of(payload, own.shape());
    EXPECT_EQ(replica.size(), 3'000U);
    EXPECT_EQ(replica.check_hash(), check);
    ASSERT_TRUE(follow(replica, *delta));
    EXPECT_EQ(replica.check_hash(), own.check_hash());
}

TEST(OwnFingerprints, ARestartAnnouncesAllAnew) {
    OwnFingerprints own(quotient_shape_for(1'000, 0.001), 1);
    own.stored(key(1));
    own.restart(9);
    EXPECT_EQ(own.epoch(), 9U);
    EXPECT_EQ(own.generation(), 0U);
    EXPECT_TRUE(own.all_announced());
    const auto replica = replica_of(snapshot_of(own), own.shape());
    EXPECT_EQ(replica.size(), 1U);
    EXPECT_EQ(replica.check_hash(), own.check_hash());
}

TEST(OwnFingerprints, DeltasOfCuckooFiltersNameFingerprintsAndNoRanks) {
    const auto shape = cuckoo_shape_for(5'000, 0.001);
    OwnFingerprints own(shape, 1);
    CuckooFilter replica(shape);
    std::uint64_t next = 0;
    for (int round = 0; round < 40; ++round) {
        for (int i = 0; i < 300; ++i, ++next) {
            own.stored(key(next));
            if (next >= 4'000) own.removed(key(next - 4'000));
        }
        const auto change = own.take_delta(kNoLimit);
        ASSERT_TRUE(change);
        EXPECT_TRUE(change->ranks.empty());
        Bytes payload;
        encode_fingerprint_delta(change->delta, universe(shape), payload);
        const auto delta = decode_fingerprint_delta(payload, universe(shape));
        ASSERT_TRUE(delta);
        ASSERT_TRUE(apply(*delta, replica));
        ASSERT_EQ(replica.check_hash(), own.check_hash());
    }
    for (auto i = next - 4'000; i < next; ++i) {
        ASSERT_TRUE(replica.contains(fingerprint(key(i), shape)));
    }
    CuckooSnapshotDecoder decoder(shape);
    ASSERT_TRUE(decoder.take(snapshot_of(own)));
    const auto newcomer = decoder.finish();
    ASSERT_TRUE(newcomer);
    EXPECT_EQ(newcomer->check_hash(), own.check_hash());
}

constexpr std::uint64_t kObjects = 200'000;

/// Steady churn: each object that comes pushes out the oldest.
double bytes_per_replaced(const FingerprintShape& shape, double changed, int announcements) {
    OwnFingerprints own(shape, 1);
    std::uint64_t next = 0;
    for (; next < kObjects; ++next) own.stored(key(next));
    own.take_delta(kNoLimit);
    const auto replaced = static_cast<std::uint64_t>(changed * kObjects);
    std::uint64_t bytes = 0;
    for (int i = 0; i < announcements; ++i) {
        for (std::uint64_t j = 0; j < replaced; ++j, ++next) {
            own.stored(key(next));
            own.removed(key(next - kObjects));
        }
        const auto change = own.take_delta(kNoLimit);
        Bytes payload;
        if (std::holds_alternative<QuotientShape>(shape)) {
            encode_ranked_delta(change->delta.added, change->ranks, universe(shape),
                                change->objects, payload);
        } else {
            encode_fingerprint_delta(change->delta, universe(shape), payload);
        }
        bytes += payload.size();
    }
    return static_cast<double>(bytes) / static_cast<double>(replaced) / announcements;
}

TEST(FingerprintCost, KeepsToTheGoalOfAnnouncementBytes) {
    const FingerprintShape quotient = quotient_shape(kObjects << 12, kObjects);
    const FingerprintShape cuckoo = cuckoo_shape_for(kObjects, 1.0 / 4096);
    const auto at_1 = bytes_per_replaced(quotient, 0.01, 10);
    const auto at_01 = bytes_per_replaced(quotient, 0.001, 100);
    EXPECT_LE(at_1, 3.7);
    EXPECT_LE(at_01, 4.5);
    const auto cuckoo_1 = bytes_per_replaced(cuckoo, 0.01, 10);
    const auto cuckoo_01 = bytes_per_replaced(cuckoo, 0.001, 100);
    EXPECT_LE(cuckoo_1, 5.5);
    EXPECT_LE(cuckoo_01, 6.5);
    std::cout << "bytes per replaced object at error 2^-12, t 1 % and 0.1 %: quotient " << at_1
              << ", " << at_01 << "; cuckoo " << cuckoo_1 << ", " << cuckoo_01 << '\n';
}

TEST(FingerprintCost, TheKeysOfFewTakeLittleAfterMany) {
    constexpr std::uint64_t kMany = 1'000'000, kLeft = 20'000;
    const auto shape = quotient_shape_for(kMany, 1.0 / 4096);
    OwnFingerprints own(shape, 1);
    for (std::uint64_t i = 0; i < kMany; ++i) own.stored(key(i));
    const auto of_many = own.memory_bytes();
    for (auto i = kLeft; i < kMany; ++i) own.removed(key(i));
    own.restart(2);
    EXPECT_LT(own.memory_bytes(), of_many / 4);
    for (std::uint64_t i = 0; i < kLeft; ++i) EXPECT_FALSE(own.stored(key(i))) << i;
    for (auto i = kLeft; i < kMany; i += 97) EXPECT_FALSE(own.removed(key(i))) << i;
    EXPECT_EQ(own.objects(), kLeft);

    // Nor does it take long to go through them, in as many steps as with all.
    own.begin_regrow(shape);
    unsigned steps = 1;
    while (!own.grow_some(kMany / 64)) ++steps;
    EXPECT_LE(steps, 8U);
}

TEST(FingerprintCost, TheOwnerNeedsLittleBesidesItsKeys) {
    constexpr std::uint64_t kMany = 1'000'000;
    OwnFingerprints own(quotient_shape_for(kMany, 1.0 / 4096), 1);
    for (std::uint64_t i = 0; i < kMany; ++i) own.stored(key(i));
    own.take_delta(kNoLimit);
    const auto at_rest = own.memory_bytes();
    EXPECT_LE(at_rest, kMany * 27);
    for (auto i = kMany; own.all_announced() || own.changed_since_announced() < kMany / 40; ++i) {
        own.stored(key(i));
        own.removed(key(i - kMany));
    }
    EXPECT_LE(own.memory_bytes() - at_rest, 1'000'000U) << "the most that can be pending";
    std::cout << static_cast<double>(at_rest) / kMany << " bytes for each key, and "
              << own.memory_bytes() - at_rest
              << " bytes for 50,000 changes that are not announced\n";
}

}  // namespace own_fingerprints_test
}  // namespace summary
