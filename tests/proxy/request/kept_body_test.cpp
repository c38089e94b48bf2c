#include "proxy/request/kept_body.hpp"

#include <gtest/gtest.h>

#include <string>

namespace proxy {
namespace kept_body_test {

struct KeptBodyTest : ::testing::Test {
    base::MemoryBudget windows{1 << 20};
    KeptBody body;
};

TEST_F(KeptBodyTest, GivesWhatWentOutForAnotherConnectionOnce) {
    body.begin(windows, 10);
    EXPECT_EQ(windows.used(), 10u);
    body.add("abc");
    body.add("def");
    EXPECT_TRUE(body.has_all());
    EXPECT_EQ(body.take(), "abcdef");
    EXPECT_EQ(body.bytes(), 0u);
}

TEST_F(KeptBodyTest, LacksABodyWhoseBeginningItDidNotKeep) {
    body.add("");
    EXPECT_TRUE(body.has_all()) << "nothing has gone out";
    body.add("abc");
    EXPECT_FALSE(body.has_all());
}

TEST_F(KeptBodyTest, GivesUpABodyThatBecomesTooLong) {
    body.begin(windows, kKeptBodyBytes);
    body.add(std::string(kKeptBodyBytes, 'x'));
    EXPECT_TRUE(body.has_all());
    body.add("y");
    EXPECT_FALSE(body.has_all());
    EXPECT_EQ(body.bytes(), 0u);
    EXPECT_EQ(windows.used(), 0u);
}

TEST_F(KeptBodyTest, KeepsNothingWithoutRoom) {
    base::MemoryBudget full(0);
    body.begin(full, 10);
    body.add("abc");
    EXPECT_FALSE(body.has_all());
    EXPECT_EQ(body.bytes(), 0u);
    EXPECT_FALSE(body.find_room(full));
}

TEST_F(KeptBodyTest, GivesACollectedBodyToEachServerOfAGroup) {
    ASSERT_TRUE(body.find_room(windows));
    EXPECT_EQ(windows.used(), kKeptBodyBytes);
    EXPECT_TRUE(body.collect("abc"));
    EXPECT_FALSE(body.is_collected());
    body.end_collecting();
    EXPECT_EQ(body.take(), "abc");
    body.begin(windows, 3);
    body.forget();
    EXPECT_EQ(body.take(), "abc");
    EXPECT_EQ(windows.used(), kKeptBodyBytes);
}

TEST_F(KeptBodyTest, CollectsNoMoreThanItsLimit) {
    ASSERT_TRUE(body.find_room(windows));
    EXPECT_TRUE(body.collect(std::string(kKeptBodyBytes, 'x')));
    EXPECT_FALSE(body.collect("y"));
}

}  // namespace kept_body_test
}  // namespace proxy
