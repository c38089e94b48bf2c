#include "measure/report/numbers.hpp"

#include <gtest/gtest.h>

namespace measure {
namespace {

TEST(Grouped, SetsCommas) {
    EXPECT_EQ(grouped(0), "0");
    EXPECT_EQ(grouped(999), "999");
    EXPECT_EQ(grouped(1000), "1,000");
    EXPECT_EQ(grouped(1'234'567), "1,234,567");
    EXPECT_EQ(grouped(18'446'744'073'709'551'615u), "18,446,744,073,709,551,615");
}

TEST(Numbers, SizesKeepFourDigitsAtMostBeforeTheUnit) {
    EXPECT_EQ(size_text(0), "0 B");
    EXPECT_EQ(size_text(9'999), "9999 B");
    EXPECT_EQ(size_text(10'000), "10.0 kB");
    EXPECT_EQ(size_text(985e6), "985.0 MB");
    EXPECT_EQ(size_text(2e16), "20000.0 TB");
}
TEST(Numbers, SmallFiguresHaveMoreDigits) {
    EXPECT_EQ(figure_text(0.01234), "0.0123");
    EXPECT_EQ(figure_text(0.0000123), "0.000012");
    EXPECT_EQ(figure_text(0), "0");
    EXPECT_EQ(figure_text(12.34), "12.3");
    EXPECT_EQ(figure_text(1234.5), "1234");
}
TEST(Numbers, NothingOfNothingIsNothing) {
    EXPECT_EQ(ratio(0, 0), 0);
    EXPECT_EQ(ratio(1, 4), 0.25);
    EXPECT_EQ(percent(1, 4), 25);
}

}  // namespace
}  // namespace measure
