#include "summary/sizing/kind.hpp"

#include <gtest/gtest.h>

#include "tests/summary/keys.hpp"

namespace summary {
namespace kind_test {

TEST(Kind, IsFoundByItsName) {
    for (const auto kind : kKinds) EXPECT_EQ(kind_named(name(kind)), kind);
    EXPECT_EQ(name(Kind::counting_bloom), "counting_bloom");
    EXPECT_EQ(name(Kind::quotient), "quotient");
    EXPECT_EQ(name(Kind::cuckoo), "cuckoo");
    EXPECT_EQ(kind_named("bloom"), std::nullopt);
    EXPECT_EQ(kind_named(""), std::nullopt);
    EXPECT_EQ(kind_named(name(static_cast<Kind>(77))), std::nullopt);
}

TEST(Kind, OfTheClusterTakesTheHashOfTheCluster) {
    for (const auto kind : kKinds) {
        EXPECT_EQ(entry_of(kind, {test::key(3), "http://example.com/"}), test::key(3));
    }
}

}  // namespace kind_test
}  // namespace summary
