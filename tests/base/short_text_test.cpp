#include "base/text/short_text.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>

namespace base {
namespace short_text_test {

TEST(ShortText, AppendsTextsAndNumbersInTheirOrder) {
    const std::string longer(1000, 'x');
    std::string out = "a";
    {
        ShortText text(out);
        text.append("b")
            .append(std::numeric_limits<std::int64_t>::min())
            .append(longer)
            .append("c");
        text.append(std::numeric_limits<std::uint64_t>::max()).append(0u);
        EXPECT_EQ(text.size(), 1u + 1 + 20 + longer.size() + 1 + 20 + 1);
    }
    EXPECT_EQ(out, "ab-9223372036854775808" + longer + "c184467440737095516150");
}

TEST(ShortText, KeepsTheOrderWhenItIsFull) {
    std::string out, expected;
    {
        ShortText text(out);
        for (int i = 0; i < 500; ++i) {
            text.append(i).append(";");
            expected.append(std::to_string(i)).append(";");
        }
    }
    EXPECT_EQ(out, expected);
}

}  // namespace short_text_test
}  // namespace base
