#include "measure/simulate/frequency_sketch.hpp"

#include <gtest/gtest.h>

#include "measure/trace/splitmix.hpp"

namespace measure {
namespace frequency_sketch_test {

summary::KeyHash key(std::uint64_t number) {
    SplitMix random(number);
    return {random.next(), random.next()};
}

void add(FrequencySketch& sketch, std::uint64_t number, unsigned times) {
    for (unsigned i = 0; i < times; ++i) sketch.add(key(number));
}

TEST(FrequencySketch, CountsUpToFifteen) {
    FrequencySketch sketch;
    add(sketch, 1, 7);
    EXPECT_EQ(sketch.estimate(key(1)), 7u);
    EXPECT_EQ(sketch.estimate(key(2)), 0u);
    add(sketch, 1, 20);
    EXPECT_EQ(sketch.estimate(key(1)), FrequencySketch::kMost);
}

TEST(FrequencySketch, HalvesAllWhenItHasSeenItsSample) {
    FrequencySketch sketch;
    ASSERT_EQ(sketch.keys() * FrequencySketch::kSample, 160u);
    add(sketch, 1, 10);
    add(sketch, 2, 149);
    EXPECT_EQ(sketch.estimate(key(1)), 10u);
    add(sketch, 2, 1);
    EXPECT_EQ(sketch.estimate(key(1)), 5u);
    EXPECT_EQ(sketch.estimate(key(2)), 7u);
    add(sketch, 2, 79);
    EXPECT_EQ(sketch.estimate(key(1)), 5u);
    add(sketch, 2, 1);
    EXPECT_EQ(sketch.estimate(key(1)), 2u) << "half of the sample was kept";
}

TEST(FrequencySketch, KeepsItsCountsWhenItGrows) {
    FrequencySketch sketch;
    add(sketch, 1, 5);
    add(sketch, 2, 3);
    sketch.make_room_for(1000);
    EXPECT_EQ(sketch.keys(), 1024u);
    EXPECT_EQ(sketch.estimate(key(1)), 5u);
    EXPECT_EQ(sketch.estimate(key(2)), 3u);
    add(sketch, 1, 1);
    EXPECT_EQ(sketch.estimate(key(1)), 6u);
}

TEST(FrequencySketch, IsSeldomTooHigh) {
    constexpr std::uint64_t kKeys = 1024;
    FrequencySketch sketch;
    sketch.make_room_for(kKeys);
    for (std::uint64_t i = 0; i < kKeys; ++i) add(sketch, i, static_cast<unsigned>(i % 4));
    unsigned wrong = 0;
    for (std::uint64_t i = 0; i < kKeys; ++i) {
        ASSERT_GE(sketch.estimate(key(i)), i % 4);
        wrong += sketch.estimate(key(i)) != i % 4;
    }
    EXPECT_LT(wrong, kKeys / 100);
}

}  // namespace frequency_sketch_test
}  // namespace measure
