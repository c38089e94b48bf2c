#include "base/memory/read_buffer.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>

namespace base {
namespace read_buffer_test {

TEST(ReadBuffer, KeepsTheRestWhenItMakesRoom) {
    std::mt19937 random(5);
    ReadBuffer buffer;
    std::string expected;
    unsigned char next = 0;
    for (int round = 0; round < 2000; ++round) {
        const auto room = buffer.prepare(1 + random() % 3000);
        const auto n = std::min<std::size_t>(room.size(), random() % 3000);
        for (std::size_t i = 0; i < n; ++i) {
            static_cast<unsigned char*>(room.data())[i] = next;
            expected.push_back(static_cast<char>(next++));
        }
        buffer.commit(n);
        ASSERT_EQ(buffer.data(), expected);
        const auto used = random() % (expected.size() + 1);
        buffer.consume(used);
        expected.erase(0, used);
    }
    buffer.clear();
    buffer.trim();
    EXPECT_TRUE(buffer.empty());
}

}  // namespace read_buffer_test
}  // namespace base
