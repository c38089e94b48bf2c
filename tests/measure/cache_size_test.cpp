#include "measure/study/cache_size.hpp"

#include <gtest/gtest.h>

namespace measure {
namespace cache_size_test {

TEST(CacheSize, IsAPartOfTheDistinctBytesInAllOrSoManyBytesEach) {
    EXPECT_EQ(parse_cache_size("10%")->of_each(1'000'000, 4), 25'000u);
    EXPECT_EQ(parse_cache_size("0.5%")->of_each(1'000'000, 1), 5'000u);
    EXPECT_EQ(parse_cache_size("64MiB")->of_each(1, 4), 64u << 20);
    EXPECT_EQ(parse_cache_size("1%")->of_each(10, 4), 1u) << "none would mean no limit";
}
TEST(CacheSize, IsSaidAsItIsGiven) {
    for (const char* text : {"10%", "0.5%", "64MiB", "1GB"})
        EXPECT_EQ(parse_cache_size(text)->text(), text);
}
TEST(CacheSize, RefusesOtherWords) {
    for (const char* text : {"", "%", "0%", "-1%", "x%", "1e3%", "10", "0MiB", "ten", "10 %x"})
        EXPECT_FALSE(parse_cache_size(text)) << text;
}
TEST(Part, IsAPercentageOrANumberUpToOne) {
    EXPECT_DOUBLE_EQ(*parse_part("1%"), 0.01);
    EXPECT_DOUBLE_EQ(*parse_part("0.25"), 0.25);
    EXPECT_DOUBLE_EQ(*parse_part("100%"), 1);
    for (const char* text : {"", "%", "1.5", "101%", "-1", "nan", "inf", "x"})
        EXPECT_FALSE(parse_part(text)) << text;
    EXPECT_EQ(part_text(0.001), "0.1%");
    EXPECT_EQ(part_text(0.1), "10%");
}

}  // namespace cache_size_test
}  // namespace measure
