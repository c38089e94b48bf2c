#include "proxy/http/outcome.hpp"

#include <gtest/gtest.h>

namespace proxy {
namespace {

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

TEST(OutcomeOf, GoesByTheSource) {
    EXPECT_EQ(outcome_of(Source::memory), Outcome::local_hit);
    EXPECT_EQ(outcome_of(Source::peer), Outcome::peer_hit);
    EXPECT_EQ(outcome_of(Source::origin), Outcome::origin_fetch);
}

}  // namespace
}  // namespace proxy
