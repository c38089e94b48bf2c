#include "proxy/storage/blocks.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace proxy {
namespace blocks_test {

TEST(Blocks, OfARangeFallIntoPartsOfAboutTheSameSize) {
    const Blocks blocks{1'000'000, 10};
    for (const auto& range : {ByteRange{0, 999'999}, {13, 27}, {5, 5}, {995, 77'772}}) {
        const auto count = blocks.touched_by(range);
        EXPECT_EQ(count, range.last / 10 - range.first / 10 + 1);
        for (const auto parts : {std::uint64_t(1), std::min<std::uint64_t>(7, count), count}) {
            auto next = range.first;
            for (std::uint64_t i = 0; i < parts; ++i) {
                const auto part = blocks.part_of(range, parts, i);
                EXPECT_EQ(part.first, next);
                EXPECT_LE(blocks.touched_by(part), count / parts + 1);
                next = part.last + 1;
            }
            EXPECT_EQ(next, range.last + 1);
        }
    }
}

TEST(Blocks, TheirKeysNameTheirTarget) {
    const auto key = block_key("http://a/b?c=d", R"("x y")", "0f", {262144, 524287});
    EXPECT_EQ(key, R"(http://a/b?c=d "x y" 0f 262144-524287)");
    EXPECT_EQ(target_of_block(key), "http://a/b?c=d") << "whatever the validator has";
    EXPECT_FALSE(target_of_block("http://a/b?c=d"));
    EXPECT_FALSE(target_of_block(""));
}

}  // namespace blocks_test
}  // namespace proxy
