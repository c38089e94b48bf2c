#include "proxy/storage/body.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/proxy/buffers.hpp"

namespace proxy {
namespace body_test {

using test::text_of;

TEST(Body, KeepsAppendedBytesAcrossPieces) {
    Body body;
    for (const auto* part : {"abcd", "efgh", "ij"}) {
        body.add_block(4, {});
        EXPECT_EQ(body.append(part), std::string_view(part).size());
    }
    EXPECT_EQ(body.size(), 10u);
    EXPECT_EQ(body.room(), 2u);
    for (std::uint64_t offset = 0; offset <= 10; ++offset) {
        std::vector<boost::asio::const_buffer> out;
        EXPECT_EQ(body.view(offset, 100, 100, out), 10 - offset);
        EXPECT_EQ(text_of(out), std::string("abcdefghij").substr(offset));
    }
}

TEST(Body, ShowsNoMoreThanAskedFor) {
    Body body;
    for (int i = 0; i < 3; ++i) {
        body.add_block(4, {});
        body.append("abcd");
    }
    std::vector<boost::asio::const_buffer> out;
    EXPECT_EQ(body.view(1, 5, 100, out), 5u);
    EXPECT_EQ(text_of(out), "bcdab");
    out.clear();
    EXPECT_EQ(body.view(1, 100, 2, out), 7u);
    EXPECT_EQ(out.size(), 2u);
}

TEST(Body, DropsOnlyCompletePiecesInFront) {
    base::MemoryBudget budget(100);
    Body body;
    for (int i = 0; i < 3; ++i) {
        ASSERT_TRUE(budget.take(4));
        body.add_block(4, base::Charge(budget, 4));
        body.append(i < 2 ? "abcd" : "ef");
    }
    body.drop_before(3);
    EXPECT_EQ(body.dropped(), 0u);
    body.drop_before(5);
    EXPECT_EQ(body.dropped(), 4u);
    EXPECT_EQ(budget.used(), 8u);
    body.drop_before(10);  // the last block still has room: it stays
    EXPECT_EQ(body.dropped(), 8u);
    std::vector<boost::asio::const_buffer> out;
    EXPECT_EQ(body.view(8, 100, 100, out), 2u);
    EXPECT_EQ(text_of(out), "ef");
}

}  // namespace body_test
}  // namespace proxy
