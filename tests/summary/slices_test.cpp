// Work in slices ends as if it had been done at once, whatever comes in between.

#include <gtest/gtest.h>

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "summary/bits/words.hpp"
#include "summary/coding/coding.hpp"
#include "summary/directory/directory.hpp"
#include "summary/directory/replica.hpp"
#include "summary/filters/bloom_filter.hpp"
#include "summary/own/own_bloom_summary.hpp"
#include "tests/summary/bloom.hpp"
#include "tests/summary/keys.hpp"

namespace summary {
namespace slices_test {

using test::key;
using test::Random;

BitArray random_bits(std::uint64_t size, std::uint64_t one_in, std::uint64_t seed) {
    Random random(seed);
    BitArray bits(size);
    for (std::uint64_t i = 0; i < size; ++i) {
        if (random.one_in(one_in)) bits.set(i);
    }
    return bits;
}

/// The bits that exactly these keys make.
BitArray bits_of(const std::set<std::uint64_t>& numbers, Shape shape) {
    BloomFilter filter(shape);
    for (const auto number : numbers) filter.insert(key(number));
    return filter.bits();
}

/// An owner, a subscriber that follows its deltas, and copies that are made meanwhile; after every
/// step all of them hold the right keys.
class GrowthModel {
public:
    explicit GrowthModel(std::uint64_t seed) : random_(seed) { snapshot(); }

    void step() {
        switch (random_.below(10)) {
            case 0:
                if (!own_.growing() && own_.fit() != Fit::fits) own_.begin_regrow();
                break;
            case 1:
            case 2:
                if (own_.growing() && own_.grow_some(1 + random_.below(300))) {
                    ++epochs;
                    copies_.clear();
                    snapshot();
                }
                break;
            case 3:
                announce();
                break;
            case 4:
                if (copies_.size() < 3) copies_.push_back(Copy(own_));
                break;
            case 5:
                for (auto& copy : copies_) {
                    if (!copy.done) copy.done = copy.bits.step(own_, 1 + random_.below(40));
                }
                break;
            default:
                change(1 + random_.below(60));
        }
        own_.tidy();
    }

    /// The announced bits and the pending changes are the keys; the subscriber has the announced
    /// ones.
    void check() {
        ASSERT_EQ(own_.objects(), keys_.size());
        ASSERT_EQ(test::bits_of(own_), bits_of(keys_, own_.shape()));
        while (!own_.all_announced()) announce();
        ASSERT_EQ(test::bits_of(subscriber_), test::bits_of(own_));
        for (const auto& copy : copies_) {
            if (!copy.done) continue;
            auto bits = copy.bits.bits();
            ASSERT_EQ(bits.count_ones(), copy.bits.ones());
            for (const auto& delta : copy.since) apply(delta, bits);
            ASSERT_EQ(bits, test::bits_of(own_));
        }
        std::erase_if(copies_, [](const Copy& copy) { return copy.done; });
    }

    unsigned epochs = 0;

private:
    struct Copy {
        explicit Copy(OwnBloomSummary& own) : bits(own) {}
        OwnBloomSummary::CopiedBits bits;
        std::vector<Delta> since;
        bool done = false;
    };

    void snapshot() {
        subscriber_ = Replica();
        subscriber_.apply_snapshot(own_.epoch(), own_.generation(),
                                   BloomFilter(own_.shape(), test::bits_of(own_)));
    }
    void announce() {
        const auto delta = own_.take_delta(1 + random_.below(500));
        if (!delta) {
            copies_.clear();
            return snapshot();
        }
        const auto payload = test::payload_of(*delta, own_.shape().bits);
        ASSERT_EQ(subscriber_.apply_delta(own_.epoch(), own_.generation(), payload).what,
                  ApplyResult::ok);
        for (auto& copy : copies_) copy.since.push_back(*delta);
    }
    void change(std::uint64_t count) {
        // Phases of filling and of emptying, so that it grows and shrinks.
        if (random_.one_in(150)) filling_ = !filling_;
        for (std::uint64_t i = 0; i < count; ++i) {
            const auto number = random_.below(12'000);
            const bool in = filling_ ? !random_.one_in(4) : random_.one_in(8);
            if (in) {
                ASSERT_EQ(own_.stored(key(number)), keys_.insert(number).second);
            } else {
                ASSERT_EQ(own_.removed(key(number)), keys_.erase(number) == 1);
            }
        }
    }

    Random random_;
    OwnBloomSummary own_{{0.002, 10, 0}};
    Replica subscriber_;
    std::set<std::uint64_t> keys_;
    std::vector<Copy> copies_;
    bool filling_ = true;
};

TEST(Growth, GrowthLosesNoKeyWhateverComesInBetween) {
    unsigned epochs = 0;
    for (std::uint64_t seed = 1; seed <= 4; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        GrowthModel model(seed);
        for (int i = 0; i < 4000; ++i) {
            ASSERT_NO_FATAL_FAILURE(model.step());
            if (i % 20 == 0) {
                ASSERT_NO_FATAL_FAILURE(model.check());
            }
        }
        ASSERT_NO_FATAL_FAILURE(model.check());
        epochs += model.epochs;
    }
    EXPECT_GE(epochs, 12U);
}

TEST(Growth, GoesOnWithTheOldEpochUntilTheLastSlice) {
    OwnBloomSummary own({0.002, 10, 0});
    for (const auto k : test::keys(0, 20'000)) own.stored(k);
    while (!own.all_announced()) own.take_delta(test::kNoLimit);
    const auto before = own.shape();
    own.begin_regrow();
    unsigned slices = 0;
    while (!own.grow_some(100)) {
        EXPECT_EQ(own.epoch(), 10U);
        EXPECT_EQ(own.shape(), before);
        own.stored(key(100'000 + slices));
        EXPECT_TRUE(own.take_delta(test::kNoLimit));
        ++slices;
    }
    EXPECT_GT(slices, 100U);
    EXPECT_EQ(own.epoch(), 11U);
    EXPECT_EQ(own.generation(), 0U);
    EXPECT_GT(own.shape().bits, before.bits);
    EXPECT_TRUE(own.take_delta(test::kNoLimit)->empty());
}

TEST(SnapshotEncoder, StepsGiveTheSameBytesAsAll) {
    for (const std::uint64_t size : {1, 64, 1000, 100'003}) {
        for (const std::uint64_t one_in : {1, 2, 3, 20, 1'000'000}) {
            const auto bits = random_bits(size, one_in, size + one_in);
            Bytes whole, in_steps;
            test::append_snapshot(bits, whole);
            SnapshotEncoder encoder(bits, bits.count_ones(), in_steps);
            while (!encoder.step(7)) continue;
            EXPECT_EQ(in_steps, whole) << size << ' ' << one_in;
        }
    }
}

TEST(SnapshotDecoder, TakesPiecesOfAnySize) {
    Random random(5);
    for (const std::uint64_t size : {1, 64, 1000, 100'003}) {
        for (const std::uint64_t one_in : {1, 2, 3, 20, 1'000'000}) {
            const auto bits = random_bits(size, one_in, size + one_in);
            Bytes payload;
            test::append_snapshot(bits, payload);
            SnapshotDecoder decoder(size);
            for (std::size_t at = 0; at < payload.size();) {
                const auto piece = std::min<std::size_t>(1 + random.below(30), payload.size() - at);
                ASSERT_TRUE(decoder.take(std::span(payload).subspan(at, piece)));
                at += piece;
            }
            EXPECT_EQ(decoder.finish(), bits) << size << ' ' << one_in;
        }
    }
}

TEST(SnapshotDecoder, RefusesWhatIsCutOrContinued) {
    const auto bits = random_bits(1000, 5, 3);
    Bytes payload;
    test::append_snapshot(bits, payload);
    SnapshotDecoder cut(1000);
    ASSERT_TRUE(cut.take(std::span(payload).first(payload.size() - 1)));
    EXPECT_EQ(cut.finish(), std::nullopt);
    SnapshotDecoder continued(1000);
    ASSERT_TRUE(continued.take(payload));
    const Bytes more(1, std::byte{0});
    EXPECT_FALSE(continued.take(more));
    EXPECT_EQ(SnapshotDecoder(1000).finish(), std::nullopt);
}

class SlicedDirectory : public ::testing::Test {
protected:
    /// The answer of a directory of these that was built at once.
    void expect_as_if_built_at_once(const Directory& directory,
                                    const std::vector<Directory::Member>& members) {
        const Directory whole(members);
        EXPECT_EQ(directory.active(), whole.active());
        for (std::uint64_t i = 0; i < 3000; ++i) {
            const auto asked = test::asked(key(i));
            ASSERT_EQ(directory.candidates(asked), whole.candidates(asked)) << i;
        }
    }
    static Filter filled(Shape shape, std::uint64_t first) {
        return test::filter_with(first, 500, shape);
    }
    static Directory::Member member(unsigned peer, const Filter& filter) {
        return {peer, descriptor_of(filter), &filter};
    }
    /// Turns any one bit, in the filter and in the directory.
    void turn_a_bit(Filter& filter, unsigned peer, Directory& directory) {
        const auto& bits = test::bits_of(filter);
        const auto position = random.below(bits.size());
        const auto delta = bits.get(position) ? Delta{{}, {position}} : Delta{{position}, {}};
        const auto change = apply_delta(test::payload_of(delta, bits.size()), filter);
        ASSERT_TRUE(change);
        directory.apply(peer, *change);
    }
    Random random{11};
    static constexpr Shape kSmall{9'024, 4}, kLarge{20'000, 5};
};

TEST_F(SlicedDirectory, IsAsIfBuiltAtOnceThoughBitsChangeMeanwhile) {
    std::vector<Filter> filters;
    for (std::uint64_t i = 0; i < 7; ++i)
        filters.push_back(filled(i < 5 ? kSmall : kLarge, 400 * i));
    std::vector<Directory::Member> members;
    for (unsigned i = 0; i < 7; ++i) members.push_back(member(i, filters[i]));
    Directory directory(members, Directory::InSlices{});
    EXPECT_TRUE(directory.active().empty());
    int slices = 0;
    for (; !directory.load_some(20); ++slices) {
        const auto who = static_cast<unsigned>(random.below(7));
        turn_a_bit(filters[who], who, directory);
    }
    EXPECT_GT(slices, 50);
    expect_as_if_built_at_once(directory, members);
}

TEST_F(SlicedDirectory, OneWhoComesBackInTheMiddleIsLoadedAnew) {
    std::vector<Filter> filters;
    for (std::uint64_t i = 0; i < 5; ++i) filters.push_back(filled(kSmall, 400 * i));
    std::vector<Directory::Member> members;
    for (unsigned i = 0; i < 5; ++i) members.push_back(member(i, filters[i]));
    Directory directory(members, Directory::InSlices{});
    ASSERT_FALSE(directory.load_some(100));
    directory.drop(2);
    directory.drop(3);
    filters[2] = filled(kSmall, 2000);
    directory.begin_load(2, filters[2]);
    while (!directory.load_some(50)) continue;
    members.erase(members.begin() + 3);
    expect_as_if_built_at_once(directory, members);
}

TEST_F(SlicedDirectory, ALaneIsLoadedInSlicesWhileItChanges) {
    std::vector<Filter> filters;
    for (std::uint64_t i = 0; i < 3; ++i) filters.push_back(filled(kSmall, 400 * i));
    std::vector<Directory::Member> members;
    for (unsigned i = 0; i < 3; ++i) members.push_back(member(i, filters[i]));
    Directory directory(members);
    directory.drop(1);
    filters[1] = filled(kSmall, 5000);
    directory.begin_load(1, filters[1]);
    while (!directory.load_some(16)) {
        EXPECT_EQ(directory.active(), (PeerSet{0, 2})) << "not before all is there";
        turn_a_bit(filters[1], 1, directory);
    }
    expect_as_if_built_at_once(directory, members);
}

TEST_F(SlicedDirectory, ALaneThatWasNeverUsedIsLoadedInSlicesAndAgainInTheMiddle) {
    std::vector<Filter> filters;
    for (std::uint64_t i = 0; i < 4; ++i) filters.push_back(filled(kSmall, 400 * i));
    std::vector<Directory::Member> members;
    for (unsigned i = 0; i < 3; ++i) members.push_back(member(i, filters[i]));
    Directory directory(members);  // of 4 lanes
    members.push_back(member(3, filters[3]));
    ASSERT_TRUE(directory.adopt(3, descriptor_of(filters[3])));
    directory.begin_load(3, filters[3]);
    for (int slice = 0; slice < 5; ++slice) {
        ASSERT_FALSE(directory.load_some(16));
        turn_a_bit(filters[3], 3, directory);
    }
    filters[3] = filled(kSmall, 9000);  // begins anew, over what is there
    directory.begin_load(3, filters[3]);
    while (!directory.load_some(16)) turn_a_bit(filters[3], 3, directory);
    expect_as_if_built_at_once(directory, members);
}

TEST_F(SlicedDirectory, GivesItsMemoryBackInPieces) {
    const auto large = test::bloom({std::uint64_t{64} << 20, 4});  // 8 MiB for each peer
    Directory directory(std::vector<Directory::Member>{{0, large, nullptr}, {1, large, nullptr}});
    EXPECT_EQ(directory.memory_bytes(), 16U << 20);
    int pieces = 1;
    for (; !directory.release(1 << 18); ++pieces) continue;  // words: 2 MiB
    EXPECT_GE(pieces, 4);
    EXPECT_EQ(directory.memory_bytes(), 0U);
}

TEST(Words, AreZeroAndKeepWhatIsWrittenWhenTouched) {
    for (const std::size_t size : {1, 1000, 1 << 20}) {
        Words words(size);
        words[size / 2] = 7;
        words.touch(0, size);
        EXPECT_EQ(words[size / 2], 7U);
        EXPECT_EQ(words[0], size == 1 ? 7U : 0U);
        const auto copy = words;
        EXPECT_EQ(copy, words);
        auto moved = std::move(words);
        EXPECT_EQ(copy, moved);
        while (!moved.release(1000)) continue;
        EXPECT_TRUE(moved.empty());
    }
}

}  // namespace slices_test
}  // namespace summary
