#include "base/text/amount.hpp"

#include <gtest/gtest.h>

namespace base {
namespace amount_test {

TEST(Amount, TakesTheSingularForOneAlone) {
    EXPECT_EQ(amount(0, "request"), "0 requests");
    EXPECT_EQ(amount(1, "request"), "1 request");
    EXPECT_EQ(amount(2000, "request"), "2000 requests");
    EXPECT_EQ(amount(1, "entry", "entries"), "1 entry");
    EXPECT_EQ(amount(2, "entry", "entries"), "2 entries");
}

}  // namespace amount_test
}  // namespace base
