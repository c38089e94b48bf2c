#include "measure/trace/printable.hpp"

#include <gtest/gtest.h>

namespace measure {
namespace printable_test {

TEST(Printable, ShowsWhatATerminalWouldObeyAsNumbers) {
    EXPECT_EQ(printable("a b~"), "a b~");
    EXPECT_EQ(printable("\x1b[2J\a\n\x7f"), "\\x1b[2J\\x07\\x0a\\x7f");
    EXPECT_EQ(printable(std::string_view("\0\xc3\xa9", 3)), "\\x00\\xc3\\xa9");
}

}  // namespace printable_test
}  // namespace measure
