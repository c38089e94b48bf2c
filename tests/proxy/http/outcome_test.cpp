#include "proxy/http/outcome.hpp"

#include <gtest/gtest.h>

namespace proxy {
namespace outcome_test {

BytesBySource bytes(std::uint64_t memory, std::uint64_t peer, std::uint64_t origin) {
    BytesBySource result;
    result.add(Source::memory, memory);
    result.add(Source::peer, peer);
    result.add(Source::origin, origin);
    result.add(Source::none, 1000);
    return result;
}

TEST(BytesBySource, AreThoseOfThePlaceThatMostCameFrom) {
    EXPECT_EQ(bytes(0, 0, 0).most(), Source::none);
    EXPECT_EQ(bytes(3, 2, 2).most(), Source::memory);
    EXPECT_EQ(bytes(2, 3, 2).most(), Source::peer);
    EXPECT_EQ(bytes(2, 2, 3).most(), Source::origin);
}

TEST(BytesBySource, AreOfTheFartherPlaceWhenTwoGaveAsMuch) {
    EXPECT_EQ(bytes(1, 1, 0).most(), Source::peer);
    EXPECT_EQ(bytes(1, 0, 1).most(), Source::origin);
    EXPECT_EQ(bytes(0, 1, 1).most(), Source::origin);
}

TEST(BytesBySource, TakeMemoryAndDiskForOnePlace) {
    const auto with_disk = [](std::uint64_t memory, std::uint64_t disk, std::uint64_t peer) {
        auto all = bytes(memory, peer, 0);
        all.add(Source::disk, disk);
        return all.most();
    };
    EXPECT_EQ(with_disk(0, 1, 0), Source::disk);
    EXPECT_EQ(with_disk(2, 3, 4), Source::disk);
    EXPECT_EQ(with_disk(3, 2, 4), Source::memory);
    EXPECT_EQ(with_disk(2, 2, 3), Source::disk);
    EXPECT_EQ(with_disk(2, 2, 4), Source::peer);
}

TEST(OutcomeOf, GoesByTheSource) {
    EXPECT_EQ(outcome_of(Source::disk), Outcome::local_hit);
    EXPECT_EQ(outcome_of(Source::memory), Outcome::local_hit);
    EXPECT_EQ(outcome_of(Source::peer), Outcome::peer_hit);
    EXPECT_EQ(outcome_of(Source::origin), Outcome::origin_fetch);
}

}  // namespace outcome_test
}  // namespace proxy
