#include "measure/report/numbers.hpp"

#include <gtest/gtest.h>

namespace measure {
namespace numbers_test {

TEST(Grouped, SetsCommas) {
    EXPECT_EQ(grouped(0), "0");
    EXPECT_EQ(grouped(999), "999");
    EXPECT_EQ(grouped(1000), "1,000");
    EXPECT_EQ(grouped(1'234'567), "1,234,567");
    EXPECT_EQ(grouped(18'446'744'073'709'551'615u), "18,446,744,073,709,551,615");
}

TEST(Numbers, ShowAUseInTheUnitOfTheWhole) {
    constexpr double kGiB = 1 << 30;
    EXPECT_EQ(use_text(1.2 * kGiB, 4 * kGiB), "1.20 of 4 GiB");
    EXPECT_EQ(use_text(0.25 * kGiB, 4 * kGiB), "0.25 of 4 GiB");
    EXPECT_EQ(use_text(4 * kGiB, 4 * kGiB), "4.00 of 4 GiB");
    EXPECT_EQ(use_text(4096, 1.5 * kGiB), "0.00 of 1.50 GiB");
    EXPECT_EQ(use_text(2048 * kGiB, 4 * kGiB), "2048.00 of 4 GiB") << "more than the whole";
    EXPECT_EQ(use_text(0, 0), "0 of 0 B");
}

TEST(Numbers, SizesAreInTheUnitsOfSettings) {
    EXPECT_EQ(size_text(0), "0 B");
    EXPECT_EQ(size_text(1023), "1023 B");
    EXPECT_EQ(size_text(1024), "1 KiB");
    EXPECT_EQ(size_text(10'000), "9.77 KiB");
    EXPECT_EQ(size_text(64 << 20), "64 MiB");
    EXPECT_EQ(size_text(985e6), "939 MiB");
    EXPECT_EQ(size_text(2.0 * (1u << 30)), "2 GiB");
    EXPECT_EQ(size_text(1e14), "90.9 TiB");
    EXPECT_EQ(size_text(2e16), "18190 TiB");
}
TEST(Numbers, ANumberThatRoundsToZeroHasNoSign) {
    EXPECT_EQ(fixed_text(-0.004, 2), "0.00");
    EXPECT_EQ(fixed_text(-0.006, 2), "-0.01");
    EXPECT_EQ(fixed_text(12.345, 1), "12.3");
}
TEST(Numbers, SmallFiguresHaveMoreDigits) {
    EXPECT_EQ(figure_text(0.01234), "0.0123");
    EXPECT_EQ(figure_text(0.0000123), "0.000012");
    EXPECT_EQ(figure_text(0), "0");
    EXPECT_EQ(figure_text(-0.0000123), "-0.000012");
    EXPECT_EQ(figure_text(12.34), "12.3");
    EXPECT_EQ(figure_text(1234.5), "1234");
}
TEST(Numbers, AShareOfNothingIsZero) {
    EXPECT_EQ(ratio(0, 0), 0);
    EXPECT_EQ(ratio(1, 4), 0.25);
    EXPECT_EQ(percent(1, 4), 25);
}

}  // namespace numbers_test
}  // namespace measure
